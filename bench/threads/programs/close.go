// Two goroutines close a channel if nobody has: the second one panics.
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
	said := make([]byte, 100)
	for {
		_, peer, _ := udp.ReadFrom(said)
		right := true
		stopped := make(chan struct{})
		var once sync.Once
		var both sync.WaitGroup
		stop := func() {
			defer both.Done()
			defer func() {
				if recover() != nil {
					right = false
				}
			}()
			if mended {
				once.Do(func() { close(stopped) })
				return
			}
			select {
			case <-stopped:
			default:
				os.WriteFile("state", []byte("stopped"), 0o644)
				close(stopped)
			}
		}
		both.Add(2)
		go stop()
		go stop()
		both.Wait()
		fmt.Printf("{\"right\": %t}\n", right)
		udp.WriteTo([]byte("done"), peer)
	}
}
