// Two goroutines log what they add between reading a variable and writing it: one update is lost.
package main

import (
	"fmt"
	"net"
	"os"
	"sync"
)

func main() {
	mended := os.Args[1] == "mended"
	udp, _ := net.ListenPacket("udp4", ":7000")
	log, _ := os.Create("log")
	said := make([]byte, 100)
	for {
		_, peer, _ := udp.ReadFrom(said)
		total := 0
		var mutex sync.Mutex
		var both sync.WaitGroup
		for _, count := range []int{1, 2} {
			both.Add(1)
			go func() {
				defer both.Done()
				if mended {
					mutex.Lock()
					defer mutex.Unlock()
				}
				before := total
				fmt.Fprintf(log, "adding %d\n", count)
				total = before + count
			}()
		}
		both.Wait()
		fmt.Printf("{\"right\": %t}\n", total == 3)
		udp.WriteTo([]byte("done"), peer)
	}
}
