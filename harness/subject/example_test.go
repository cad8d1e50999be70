package subject_test

import (
	"fmt"

	"assay/harness/subject"
)

func ExampleParseCommand() {
	command, err := subject.ParseCommand("DATABASE_URL={database} LISTEN={listen} ./yours")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(command.Supports(subject.Configuration{}))
	fmt.Println(command.Supports(subject.Configuration{KeepaliveMS: 200}))
	_, err = subject.ParseCommand("./yours --listen {address}")
	fmt.Println(err)
	// Output:
	// <nil>
	// the subject cannot be given this configuration: keepalive 200 ms needs the placeholder {keepalive_ms} in the command
	// unknown placeholder {address} at byte 18 of the command; known are {listen} {database} {db_host} {db_port} {db_user} {db_password} {db_name} {chain} {chain_id} {limits} {keepalive_ms}; write {{address}} for a literal {address}
}

func ExampleParseEndpoint() {
	e, err := subject.ParseEndpoint("grpcs://api.example:443", subject.TLSOptions{}, []string{"authorization: Bearer secret"})
	fmt.Println(e, e.Secure(), err)
	_, err = subject.ParseEndpoint("localhost:5050", subject.TLSOptions{}, nil)
	fmt.Println(err)
	// Output:
	// grpcs://api.example:443 true <nil>
	// target "localhost:5050" has no scheme; write grpc://host:port, or grpcs, http, https
}

func ExampleConfiguration() {
	c := subject.Configuration{Limits: map[string]uint64{"max_query_topics": 3}, KeepaliveMS: 200}
	fmt.Println(c.Key())
	fmt.Println(c.Describe())
	// Output:
	// limits={"max_query_topics":3} keepalive_ms=200
	// max_query_topics 3, keepalive 200 ms
}
