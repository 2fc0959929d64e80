// Package base answers questions about robots.txt files with a Go parser, by the protocol of README.md.
package base

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
)

type question struct {
	Robots string   `json:"robots"`
	Agents []string `json:"agents"`
	URLs   []string `json:"urls"`
	Repeat int      `json:"repeat"`
	Keep   bool     `json:"keep"`
}

type answer struct {
	Verdicts []string `json:"verdicts"`
	ParseNs  int64    `json:"parse_ns"`
	AskNs    int64    `json:"ask_ns"`
}

// Serve answers until the input ends. parse gets the body, allowed what parse returned, the agent and
// the URL. An error or a panic is the answer E.
func Serve[P any](parse func([]byte) (P, error), allowed func(P, string, string) bool) {
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, `{"hello": 1, "parses": "once"}`)
	out.Flush()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	var kept []P
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		body, err := base64.StdEncoding.DecodeString(q.Robots)
		if err != nil {
			panic(err)
		}
		var a answer
		for i := 0; i < q.Repeat || i == 0; i++ {
			a = answer{}
			parsed, ok := timed(&a.ParseNs, func() P {
				parsed, err := parse(body)
				if err != nil {
					panic(err)
				}
				return parsed
			})
			if q.Keep {
				kept = append(kept, parsed)
			}
			for _, agent := range q.Agents {
				letters := make([]byte, 0, len(q.URLs))
				for _, url := range q.URLs {
					letter := byte('E')
					if ok {
						if allows, answered := timed(&a.AskNs, func() bool { return allowed(parsed, agent, url) }); answered {
							letter = letterOf(allows)
						}
					}
					letters = append(letters, letter)
				}
				a.Verdicts = append(a.Verdicts, string(letters))
			}
		}
		json.NewEncoder(out).Encode(a)
		out.Flush()
	}
}

// timed adds the processor time of a call, and reports whether it ended without a panic.
func timed[T any](total *int64, call func() T) (result T, ok bool) {
	start := cpuNs()
	defer func() {
		*total += cpuNs() - start
		if recover() != nil {
			ok = false
		}
	}()
	return call(), true
}

func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func letterOf(allows bool) byte {
	if allows {
		return 'A'
	}
	return 'D'
}
