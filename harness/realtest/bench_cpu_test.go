package realtest

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// processorTime returns the CPU time that the processes of the cluster and this process, the harness, have used since
// they started. Unlike elapsed time, it shows the cost even if others use the machine, too.
func processorTime(b *testing.B, cluster clusters.Cluster) (ofCluster, ofHarness time.Duration) {
	b.Helper()
	for name, pid := range cluster.(*local.Cluster).PIDs() {
		data := []byte(golden.Read(b, fmt.Sprintf("/proc/%d/stat", pid)))
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
	golden.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return ofCluster, time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// load returns the load averages of this machine over the last one, five and fifteen minutes.
func load(b *testing.B) string {
	b.Helper()
	data := []byte(golden.Read(b, "/proc/loadavg"))
	return string(bytes.Join(bytes.Fields(data)[:3], []byte(" ")))
}
