// Answers by HTTP, and asks its peer every second from a goroutine of its own.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

var count atomic.Int64

func main() {
	client := &http.Client{Timeout: 3 * time.Second}
	go func() {
		for range time.Tick(time.Second) {
			answer, err := client.Get("http://" + os.Args[1] + ":8080/")
			if err == nil {
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			fmt.Printf("{\"count\":%d,\"peer\":%t}\n", count.Load(), err == nil)
		}
	}()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n := count.Add(1)
		done := make(chan int64, 4)
		for i := int64(0); i < 4; i++ {
			go func() { done <- n + i }()
		}
		for i := 0; i < 4; i++ {
			<-done
		}
		fmt.Printf("{\"count\":%d}\n", n)
		fmt.Fprintf(w, "{\"count\":%d}", n)
	})
	if err := http.ListenAndServe(":8080", nil); err != nil {
		panic(err)
	}
}
