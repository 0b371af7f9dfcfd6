// Command ferretdb runs FerretDB on loopback, with its data in SQLite files in the folder that its argument names.
//
// It prints "ready PORT" once it listens, and ends when its input does: so it never outlives the tests that started
// it.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	data := os.Args[1]
	socket := filepath.Join(data, "socket")
	server, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{Unix: socket},
		Logger:   slog.New(slog.DiscardHandler),
		Handler:  "sqlite",
		// A kill of the process loses nothing without a sync; only a crash of the machine would.
		SQLiteURL: "file:" + data + "/?_pragma=synchronous(off)&_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)",
	})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready", listener.Addr().(*net.TCPAddr).Port)
	go serve(listener, socket)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := server.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(listener net.Listener, socket string) {
	// One change at a time: FerretDB 1 reads what it changes and then writes it in a second step (issue 3040), so of
	// two that change a document under a condition both may. MongoDB's changes are atomic.
	var one sync.Mutex
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("unix", socket)
			if err != nil {
				log.Fatal(err)
			}
			defer server.Close()
			for {
				command, err := read(client)
				if err != nil {
					return
				}
				changes := isChange(command)
				if changes {
					one.Lock()
				}
				_, err = server.Write(command)
				answer, failed := read(server)
				if changes {
					one.Unlock()
				}
				if err != nil || failed != nil {
					return
				}
				client.Write(answer)
			}
		}()
	}
}

// True if a message is a command that changes documents: its name is the first field, a string, of the document
// behind the header of 16 bytes, 4 of flags, 1 of kind and 4 of length.
func isChange(message []byte) bool {
	for _, name := range []string{"update", "findAndModify", "delete"} {
		if len(message) > 25 && bytes.HasPrefix(message[25:], []byte("\x02"+name+"\x00")) {
			return true
		}
	}
	return false
}

// Reads a message of MongoDB's wire protocol: the first four bytes are the length of all.
func read(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.LittleEndian.Uint32(length[:]))
	copy(message, length[:])
	_, err := io.ReadFull(from, message[4:])
	return message, err
}
