// Temoto's robotstxt. It judges paths.
package main

import (
	"strings"

	"conformance/base"
	"github.com/temoto/robotstxt"
)

func main() {
	base.Serve(robotstxt.FromBytes, func(robots *robotstxt.RobotsData, agent, url string) bool {
		return robots.TestAgent(strings.TrimPrefix(url, "http://example.com"), agent)
	})
}
