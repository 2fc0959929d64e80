// Grobotstxt, a port of Google's code. It parses the file for each question.
package main

import (
	"conformance/base"
	"github.com/jimsmart/grobotstxt"
)

func main() {
	parse := func(body []byte) (string, error) { return string(body), nil }
	base.Serve(parse, func(body, agent, url string) bool { return grobotstxt.AgentAllowed(body, agent, url) })
}
