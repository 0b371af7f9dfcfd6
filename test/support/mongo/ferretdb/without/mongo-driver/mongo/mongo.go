// Package mongo has the one type that FerretDB takes from MongoDB's driver.
package mongo

type WriteError struct {
	Index, Code int
	Message     string
}
