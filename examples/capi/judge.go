// Judges the URLs of standard input, one per line, and prints them with one letter per agent, like
// `robosieve annotate`. docs/C.md has the commands that build and run it.
// usage: judge SNAPSHOT AGENT... < URLS
package main

// #include <stdlib.h>
// #include "robosieve.h"
import "C"

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"unsafe"
)

// check ends the program with the message of a failed call.
func check(status C.robosieve_status) {
	if status != C.ROBOSIEVE_STATUS_OK {
		os.Stderr.WriteString("judge: " + C.GoString(C.robosieve_last_error()) + "\n")
		os.Exit(2)
	}
}

func main() {
	// The message of an error belongs to the thread that got it.
	runtime.LockOSThread()
	var agents []*C.char
	for _, name := range os.Args[2:] {
		agents = append(agents, C.CString(name))
	}
	var snapshot *C.robosieve_snapshot
	var judge *C.robosieve_judge
	check(C.robosieve_snapshot_open(C.CString(os.Args[1]), 0, &snapshot))
	check(C.robosieve_judge_new(snapshot, &agents[0], C.size_t(len(agents)), nil, &judge))
	defer C.robosieve_judge_close(judge)
	C.robosieve_snapshot_close(snapshot) // The judge keeps it.

	text, _ := io.ReadAll(os.Stdin)
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	// A column of Arrow: the bytes of all rows, and where each begins.
	data, offsets := bytes.Join(lines, nil), []C.int32_t{0}
	for _, line := range lines {
		offsets = append(offsets, offsets[len(offsets)-1]+C.int32_t(len(line)))
	}
	rows, width := C.size_t(len(lines)), int(C.robosieve_judge_agent_count(judge))
	verdicts := make([]C.int8_t, len(lines)*width)
	check(C.robosieve_judge_rows32(judge, unsafe.Pointer(&data[0]), C.size_t(len(data)), &offsets[0],
		rows, &verdicts[0], C.size_t(len(verdicts))))
	out := make([]byte, 0, 2*len(text))
	for row, line := range lines {
		for _, verdict := range verdicts[row*width : (row+1)*width] {
			out = append(out, "DAUI"[verdict])
		}
		out = append(append(append(out, '\t'), line...), '\n')
	}
	os.Stdout.Write(out)
}
