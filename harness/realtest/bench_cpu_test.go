package realtest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
)

// processorTime is what the cluster's processes and this one, the harness, have used of processors since they started.
// Unlike the time of day it says what something costs on a machine that others use, too.
func processorTime(b *testing.B, cluster clusters.Cluster) (ofCluster, ofHarness time.Duration) {
	b.Helper()
	for name, pid := range cluster.(*local.Cluster).PIDs() {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Fatal(err)
		}
		// proc_pid_stat(5): after the name, which ends with the last parenthesis, utime and stime are the 12th and 13th, in
		// hundredths of a second.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		var user, system int64
		if _, err := fmt.Sscan(string(fields[11])+" "+string(fields[12]), &user, &system); err != nil {
			b.Fatalf("the times of %s: %v", name, err)
		}
		ofCluster += time.Duration(user+system) * 10 * time.Millisecond
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return ofCluster, time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// load is how many processes wanted to run on this machine, of late: on average of the last one, five and fifteen
// minutes.
func load(b *testing.B) string {
	b.Helper()
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		b.Fatal(err)
	}
	return string(bytes.Join(bytes.Fields(data)[:3], []byte(" ")))
}
