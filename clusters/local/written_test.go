package local

import (
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The writes end with the last revision that was asked for, even if the watch goes on. A watch that ends before it, or
// fails, has not told everything.
func TestWrites(t *testing.T) {
	event := func(revision int64) *clientv3.Event {
		key := []byte(fmt.Sprint("/", revision))
		return &clientv3.Event{Kv: &mvccpb.KeyValue{Key: key, ModRevision: revision}}
	}
	watch := func(responses ...clientv3.WatchResponse) clientv3.WatchChan {
		told := make(chan clientv3.WatchResponse, len(responses))
		for _, one := range responses {
			told <- one
		}
		close(told)
		return told
	}
	first := clientv3.WatchResponse{Events: []*clientv3.Event{event(3), event(4)}}
	second := clientv3.WatchResponse{Events: []*clientv3.Event{event(5), event(5), event(6), event(7)}}
	never := clientv3.WatchResponse{Events: []*clientv3.Event{event(6)}}
	written, err := writes(watch(first, second, never), 6)
	golden.Must(t, err)
	if got := fmt.Sprint(written); got != "map[3:[/3] 4:[/4] 5:[/5 /5] 6:[/6]]" {
		t.Errorf("got %s", got)
	}
	for what, wrong := range map[string]clientv3.WatchResponse{
		"it was compacted": {CompactRevision: 9}, "it ends": {},
	} {
		if written, err := writes(watch(first, wrong), 6); err == nil {
			t.Errorf("%s: got %v without an error", what, written)
		}
	}
}
