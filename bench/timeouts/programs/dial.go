// Connects for three seconds at the most, and gives up altogether: its supervisor is to start it again.
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		back, err := net.DialTimeout("tcp", os.Getenv("BACK")+":8080", 3*time.Second)
		if err != nil {
			log.Fatal(err)
		}
		defer back.Close()
		io.WriteString(back, "GET / HTTP/1.0\r\n\r\n")
		io.Copy(response, back)
	})
	http.ListenAndServe(":8080", nil)
}
