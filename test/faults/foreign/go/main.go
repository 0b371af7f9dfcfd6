// Calls recalld with clients of connect-go and grpc-go, by every protocol that they speak.
//
//	client URL KEY
//
// Ends with one line of figures, or with 1 and what went wrong.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: client URL KEY")
		os.Exit(2)
	}
	clients, err := openClients(os.Args[1], os.Args[2])
	if err != nil {
		fail(err)
	}
	calls := 0
	for number, api := range clients {
		run := &run{api: api, namespace: fmt.Sprintf("go %d", number)}
		for _, check := range checks {
			if err := check.do(run); err != nil {
				fail(fmt.Errorf("%s: %s: %w", api.name(), check.name, err))
			}
		}
		calls += run.calls
	}
	fmt.Printf("%d calls by %d clients of connect-go and grpc-go, each as it must be\n", calls, len(clients))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
