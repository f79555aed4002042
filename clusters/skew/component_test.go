package skew_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/skew"
)

func TestCheckComponent(t *testing.T) {
	for _, test := range []struct {
		version, apiServer string
		// want is the beginning of the error; "" for no error.
		want string
	}{
		{"1.35.4", "1.35.4", ""},
		{"1.35.4", "1.35.0", ""},
		{"1.35.4", "1.36.3", ""},
		{"1.35", "1.36", ""},
		{"1.36.0-rc.1", "1.36.3", ""},
		{"1.36.3", "1.35.4", "kube-scheduler 1.36.3 is newer than kube-apiserver 1.35.4"},
		{"1.34.4", "1.36.3", "kube-scheduler 1.34.4 is more than one minor version older than kube-apiserver 1.36.3"},
		{"2.35.0", "1.35.4", "kube-scheduler 2.35.0 is newer than kube-apiserver 1.35.4"},
	} {
		t.Run(test.version+" at "+test.apiServer, func(t *testing.T) {
			err := skew.CheckComponent(clusters.Scheduler, version(t, test.version), version(t, test.apiServer))
			if test.want == "" {
				if err != nil {
					t.Fatalf("rejected: %v", err)
				}
				return
			}
			want := test.want + ": it must not be newer than an API server, and at most one minor version older (" +
				skew.Policy + ")"
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
