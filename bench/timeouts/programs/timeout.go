// A client with a time-out of two seconds, then 502.
package main

import (
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	client := http.Client{Timeout: 2 * time.Second}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		answer, err := client.Get("http://" + os.Getenv("BACK") + ":8080/")
		if err != nil {
			http.Error(response, "no answer", http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		io.Copy(response, answer.Body)
	})
	http.ListenAndServe(":8080", nil)
}
