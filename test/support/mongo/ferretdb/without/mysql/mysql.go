// Package mysql has what FerretDB needs of MySQL's driver to compile: the tests have no MySQL.
package mysql

type Config struct {
	User, Passwd, Net, Addr, DBName string
	Params                          map[string]string
}

func (*Config) FormatDSN() string { return "" }

type MySQLError struct{ Number uint16 }

func (*MySQLError) Error() string { return "" }
