package transplant

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Options of a copy.
type Options struct {
	// Name of the source of the data.
	Name string
	// Missing is what could not be read. It may include owners of objects that were read.
	Missing []capture.Missing
	// Assumed are assumptions about the source cluster, one sentence each.
	Assumed []string
	// ServiceRange is the API server's --service-cluster-ip-range. Default: the range in the data.
	ServiceRange string
	// EncryptionConfig is the API server's --encryption-provider-config; "" for none.
	EncryptionConfig string
	// Webhooks answers the webhooks in place of the source cluster's servers. Default: nothing answers them, and their
	// configurations are left out.
	Webhooks Answerer
	// Now returns the current time.
	Now func() time.Time
}

// Answerer answers webhooks.
type Answerer interface {
	// Address returns the URL that answers a hook, and the CA certificate of the server there.
	Address(Hook) (address url.URL, authority []byte)
	// Runs reports whether a real program answers a hook.
	Runs(Hook) bool
}

// Copy puts the data of another cluster into a local cluster. It is a clusters.Seed.
type Copy struct {
	Options
	data  Data
	facts *facts
	// put are the keys that were put into etcd. leaving are those whose objects were already being deleted.
	put     []string
	leaving map[string]bool
	// uids are those of what workloads own, by key.
	uids    map[string]types.UID
	lacks   []Lack
	notes   []string
	dropped map[string]int
}

// Lack is an object that cannot be judged, because the copy lacks it or something that it needs. Kind is a kind with
// its group (Deployment.apps) or a resource (deployments.apps). Name is NAMESPACE/NAME or NAME, and "" for all objects
// of the kind.
type Lack struct {
	Kind, Name string
	Why        string
}

// New reads the data once, and returns its copy.
func New(data Data, o Options) (*Copy, error) {
	f, err := scan(data)
	if err != nil {
		return nil, err
	}
	if f.objects == 0 {
		return nil, fmt.Errorf("%s has no objects", o.Name)
	}
	return &Copy{
		Options: o, data: data, facts: f, leaving: map[string]bool{}, dropped: map[string]int{},
		uids: map[string]types.UID{},
	}, nil
}

// Objects returns the number of objects.
func (c *Copy) Objects() int { return c.facts.objects }

// Lacks returns what cannot be judged. The results of Lacks and Notes are complete as soon as Fill has returned.
func (c *Copy) Lacks() []Lack {
	var lacks []Lack
	for _, m := range c.Missing {
		lacks = append(lacks, Lack{Kind: m.What, Why: "it could not be read from the cluster: " + m.Why})
	}
	return append(lacks, c.lacks...)
}

// Notes returns how the copy differs from the source cluster, and what was assumed.
func (c *Copy) Notes() []string {
	notes := append(slices.Concat(c.Assumed, c.notes),
		"the controllers that act on time or hardware were off: CronJobs, expiry of Jobs, volumes, the life of nodes")
	if c.incomplete() {
		notes = append(notes, "the garbage collector was off: objects that could not be read, or were left out because they "+
			"are encrypted, may own others")
	}
	for _, what := range clusters.SortedKeys(c.dropped) {
		notes = append(notes, fmt.Sprintf("left out of the copy: %d %s", c.dropped[what], what))
	}
	return notes
}

// Lost returns the keys that were put into etcd, but are missing from the given ones, which have the UIDs of their
// objects. A pod of a StatefulSet with another UID was replaced, so it is missing, too. Objects that were already being
// deleted may disappear. So may APIServices, because the API server maintains them for the versions that it serves.
func (c *Copy) Lost(there map[string]types.UID) []string {
	return slices.DeleteFunc(slices.Clone(c.put), func(key string) bool {
		folder, _ := split(key)
		uid, is := there[key]
		replaced := c.uids[key] != "" && c.uids[key] != uid
		return is && !replaced || c.leaving[key] || folder == apiServices
	})
}

// idle are the controllers that act on time, or on hardware that a copy does not have. The first seven are off on all
// local clusters.
var idle = []string{
	"horizontal-pod-autoscaler-controller", "node-ipam-controller", "ttl-controller",
	"legacy-serviceaccount-token-cleaner-controller",
	"selinux-warning-controller", "persistentvolume-attach-detach-controller", "persistentvolume-expander-controller",
	"persistentvolume-binder-controller", "cronjob-controller", "ttl-after-finished-controller",
	"certificatesigningrequest-cleaner-controller", "node-lifecycle-controller", "taint-eviction-controller",
	"pod-garbage-collector-controller",
}

// incomplete reports whether objects are missing that may own others.
func (c *Copy) incomplete() bool { return len(c.Missing) > 0 || c.facts.unread > 0 }

// Needs returns what every state must have for the data: ranges of addresses and ports, and controllers that are off.
func (c *Copy) Needs() (clusters.Change, error) {
	services := c.ServiceRange
	if services == "" {
		var err error
		if services, err = c.facts.serviceRange(); err != nil {
			return clusters.Change{}, err
		}
	}
	server := map[string]*string{}
	for flag, value := range map[string]string{
		"service-cluster-ip-range": services, "service-node-port-range": c.facts.nodePortRange(),
		"encryption-provider-config": c.EncryptionConfig,
	} {
		if value != "" {
			server[flag] = &value
		}
	}
	off := slices.Clone(idle)
	if c.incomplete() {
		off = append(off, "garbage-collector-controller") // it would delete what the others own
	}
	controllers := "*,-" + strings.Join(off, ",-")
	none := 0
	return clusters.Change{
		Nodes: []clusters.NodeGroup{{Count: &none}},
		Components: map[clusters.Component]*clusters.ComponentChange{
			clusters.APIServer:         {Flags: server},
			clusters.ControllerManager: {Flags: map[string]*string{"controllers": &controllers}},
		},
	}, nil
}

// Fill puts the data into etcd.
func (c *Copy) Fill(ctx context.Context, etcd clientv3.KV) error {
	b := &batch{etcd: etcd}
	err := c.data.Each(func(e Entry) error {
		value, err := c.treated(e)
		if err != nil || value == nil {
			return err
		}
		c.put = append(c.put, e.Key)
		return b.put(ctx, e.Key, value)
	})
	if err == nil {
		err = c.house(ctx, b)
	}
	if err == nil {
		err = b.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("put the objects of %s into etcd: %w", c.Name, err)
	}
	return nil
}

// house creates the nodes that Pods run on but the data lacks. Pods without a node would be deleted.
func (c *Copy) house(ctx context.Context, b *batch) error {
	names := c.facts.homeless()
	for _, name := range names {
		r := storage.Resource{Version: "v1", Name: "nodes", Kind: "Node"}
		value, err := storage.Encode(r, simulatedNode(name, c.Now()))
		if err != nil {
			return err
		}
		if err := b.put(ctx, r.Key("", name), value); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%d nodes were created for Pods on nodes that could not be read",
			len(names)))
	}
	return nil
}

func simulatedNode(name string, now time.Time) *unstructured.Unstructured {
	resources := map[string]any{"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "500"}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name": name, "uid": "rehearse-" + name, "creationTimestamp": now.UTC().Format(time.RFC3339),
			"labels": map[string]any{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"},
		},
		"spec":   map[string]any{},
		"status": map[string]any{"capacity": resources, "allocatable": resources},
	}}
}

// batch puts many keys with one request.
type batch struct {
	etcd clientv3.KV
	ops  []clientv3.Op
	size int
}

// The limits of one request. They are below etcd's own limits.
const (
	batchOps  = 100
	batchSize = 1 << 20
)

func (b *batch) put(ctx context.Context, key string, value []byte) error {
	if len(b.ops) > 0 && b.size+len(value) > batchSize {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.ops = append(b.ops, clientv3.OpPut(key, string(value)))
	b.size += len(key) + len(value)
	if len(b.ops) == batchOps {
		return b.flush(ctx)
	}
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.ops) == 0 {
		return nil
	}
	if _, err := b.etcd.Txn(ctx).Then(b.ops...).Commit(); err != nil {
		return err
	}
	b.ops, b.size = nil, 0
	return nil
}
