// TLS in Go.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
)

func back() {
	pair, err := tls.LoadX509KeyPair(os.Getenv("CERT"), os.Getenv("KEY"))
	if err != nil {
		panic(err)
	}
	listener, err := tls.Listen("tcp", ":8080", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		panic(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			defer connection.Close()
			asked := make([]byte, 64)
			length, _ := connection.Read(asked)
			fmt.Fprintf(connection, "secret %s", asked[:length])
		}()
	}
}

func work() string {
	pem, err := os.ReadFile(os.Getenv("CERT"))
	if err != nil {
		return err.Error()
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	connection, err := tls.Dial("tcp", os.Getenv("BACK")+":8080", &tls.Config{RootCAs: pool, ServerName: "back"})
	if err != nil {
		return err.Error()
	}
	defer connection.Close()
	fmt.Fprint(connection, "word")
	got := make([]byte, 64)
	length, err := connection.Read(got)
	if string(got[:length]) != "secret word" {
		return fmt.Sprint(string(got[:length]), err)
	}
	return "ok"
}

func main() {
	if len(os.Args) > 1 {
		back()
	}
	listener, err := net.Listen("tcp", ":8080")
	if err != nil {
		panic(err)
	}
	for count := 1; ; count++ {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		connection.Read(make([]byte, 64))
		fmt.Fprint(connection, work())
		connection.Close()
		fmt.Printf("{\"count\":%d}\n", count)
	}
}
