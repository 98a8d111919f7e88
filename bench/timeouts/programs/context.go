// A context of half a second for each request, then 504.
package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		within, cancel := context.WithTimeout(request.Context(), 500*time.Millisecond)
		defer cancel()
		asked, _ := http.NewRequestWithContext(within, "GET", "http://"+os.Getenv("BACK")+":8080/", nil)
		answer, err := http.DefaultClient.Do(asked)
		if err != nil {
			http.Error(response, "too late", http.StatusGatewayTimeout)
			return
		}
		defer answer.Body.Close()
		io.Copy(response, answer.Body)
	})
	http.ListenAndServe(":8080", nil)
}
