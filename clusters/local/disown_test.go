package local

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// keys are an etcd that has only keys.
type keys struct {
	clientv3.KV
	all map[string]bool
}

func (k keys) within(key string, options []clientv3.OpOption) []string {
	end := string(clientv3.OpGet(key, options...).RangeBytes())
	var found []string
	for _, other := range slices.Sorted(maps.Keys(k.all)) {
		if other == key || end != "" && key <= other && other < end {
			found = append(found, other)
		}
	}
	return found
}

func (k keys) Delete(_ context.Context, key string, options ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	for _, found := range k.within(key, options) {
		delete(k.all, found)
	}
	return &clientv3.DeleteResponse{}, nil
}

func (k keys) Get(_ context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	response := &clientv3.GetResponse{}
	for _, found := range k.within(key, options) {
		response.Kvs = append(response.Kvs, &mvccpb.KeyValue{Key: []byte(found)})
	}
	return response, nil
}

// Objects whose names only begin like those of the copied cluster's own objects stay.
func TestDisown(t *testing.T) {
	own := []string{
		"apiregistration.k8s.io/apiservices/v1.apps", "configmaps/default/kube-root-ca.crt",
		"configmaps/kube-system/extension-apiserver-authentication", "endpointslices/default/kubernetes",
		"events/default/x", "ipaddresses/10.96.0.1", "leases/kube-system/kube-scheduler", "masterleases/127.0.0.1",
		"mutatingwebhookconfigurations/x", "ranges/serviceips", "services/endpoints/default/kubernetes",
		"services/specs/default/kubernetes", "validatingwebhookconfigurations/x",
	}
	others := []string{
		"configmaps/default/kube-root-ca.crt.old", "configmaps/kube-system/extension-apiserver-authentication-2",
		"endpointslices/default/kubernetes-dashboard-x7z", "ipaddresses/10.96.0.10", "ipaddresses/10.96.0.19",
		"ipaddresses/10.96.0.2", "ranges/servicenodeports", "services/endpoints/default/kubernetes-dashboard",
		"services/specs/default/kubernetes-dashboard",
	}
	etcd := keys{all: map[string]bool{}}
	for _, key := range slices.Concat(own, others) {
		etcd.all["/registry/"+key] = true
	}
	golden.Must(t, disown(t.Context(), etcd))
	var left []string
	for _, key := range slices.Sorted(maps.Keys(etcd.all)) {
		left = append(left, strings.TrimPrefix(key, "/registry/"))
	}
	if !slices.Equal(left, others) {
		t.Errorf("left are\n%s\nwant\n%s", strings.Join(left, "\n"), strings.Join(others, "\n"))
	}
}
