package writes_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/discovery"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

func TestAnAbortedRequestIsExplained(t *testing.T) {
	config, stop := apitest.Aborting(t)
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	err = client.RESTClient().Post().AbsPath("/api").Do(t.Context()).Error()
	if !writes.Aborted(err) || !strings.Contains(writes.Words(err), "as it does after a panic") {
		t.Errorf("%v: %s", err, writes.Words(err))
	}
	stop()
	err = client.RESTClient().Post().AbsPath("/api").Do(t.Context()).Error()
	if writes.Aborted(err) || strings.Contains(writes.Words(err), "panic") {
		t.Errorf("a closed port: %s", writes.Words(err))
	}
}
