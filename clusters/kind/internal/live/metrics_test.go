package live

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestStartTime(t *testing.T) {
	const metrics = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1.75e+09\nbroken{\n"
	if got := StartTime([]byte(metrics)); got != 1.75e9 {
		t.Errorf("got %v", got)
	}
}

func TestHasLeader(t *testing.T) {
	for metrics, want := range map[string]string{
		"# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 1\n": "",
		"# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 0\n": "has no leader yet", "": "has no leader yet",
	} {
		golden.Error(t, HasLeader([]byte(metrics)), want)
	}
}
