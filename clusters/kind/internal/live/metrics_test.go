package live

import (
	"strings"
	"testing"
)

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHasLeader(t *testing.T) {
	for metrics, want := range map[string]string{
		"# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 1\n": "",
		"# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 0\n": "has no leader yet", "": "has no leader yet",
	} {
		expectError(t, HasLeader([]byte(metrics)), want)
	}
}
