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

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Options of a copy.
type Options struct {
	// Name of where the data is from.
	Name string
	// Missing is what could not be read: who owns an object may not be there.
	Missing []capture.Missing
	// Assumed are assumptions about the cluster that the data is from, one sentence each.
	Assumed []string
	// ServiceRange is the API server's --service-cluster-ip-range; that of the data by default.
	ServiceRange string
	// EncryptionConfig is the API server's --encryption-provider-config; "" for none.
	EncryptionConfig string
	// Webhooks answers in place of those who answer webhooks in the cluster that the data is from. Default: nobody
	// does.
	Webhooks Answerer
	// Now is the clock.
	Now func() time.Time
}

// Answerer answers webhooks.
type Answerer interface {
	// Address at which a hook is asked, and the authority of who answers there.
	Address(Hook) (address url.URL, authority []byte)
	// Runs says whether a program answers for a hook in earnest.
	Runs(Hook) bool
}

// Copy is another cluster's data on its way into one of ours. It is a clusters.Seed.
type Copy struct {
	Options
	data  Data
	facts *facts
	// put are the keys of what was put into etcd; leaving are those of them that were being deleted already.
	put     []string
	leaving map[string]bool
	lacks   []Lack
	notes   []string
	dropped map[string]int
}

// Lack is something that cannot be judged, since the copy lacks it or what it needs. Name is "" for all of a kind.
type Lack struct {
	Kind, Name string
	Why        string
}

// New reads the data once.
func New(data Data, o Options) (*Copy, error) {
	f, err := scan(data)
	if err != nil {
		return nil, err
	}
	if f.objects == 0 {
		return nil, fmt.Errorf("%s has no objects", o.Name)
	}
	return &Copy{Options: o, data: data, facts: f, leaving: map[string]bool{}, dropped: map[string]int{}}, nil
}

// Objects is how many there are.
func (c *Copy) Objects() int { return c.facts.objects }

// Lacks are what cannot be judged; Notes are what was done to the data. Both are known once it has been put into etcd.
func (c *Copy) Lacks() []Lack {
	var lacks []Lack
	for _, m := range c.Missing {
		lacks = append(lacks, Lack{Kind: m.What, Why: "it could not be read from the cluster: " + m.Why})
	}
	return append(lacks, c.lacks...)
}

// Notes on what is not as it was.
func (c *Copy) Notes() []string {
	notes := append(slices.Concat(c.Assumed, c.notes),
		"the controllers that act on time or hardware were off: CronJobs, expiry of Jobs, volumes, the life of nodes")
	if len(c.Missing) > 0 {
		notes = append(notes, "the garbage collector was off: objects that could not be read may own others")
	}
	for _, what := range clusters.SortedKeys(c.dropped) {
		notes = append(notes, fmt.Sprintf("left out of the copy: %d %s", c.dropped[what], what))
	}
	return notes
}

// Lost are the keys of what was put into etcd and is not among the keys that are there. What was being deleted already
// is allowed to go, and so are APIServices: the API server has them for the versions that it serves.
func (c *Copy) Lost(there map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(c.put), func(key string) bool {
		folder, _ := split(key)
		return there[key] || c.leaving[key] || folder == apiServices
	})
}

// idle are the controllers that act on time, or on hardware that a copy does not have. The first ones are off on all
// local clusters.
var idle = []string{
	"horizontal-pod-autoscaler-controller", "node-ipam-controller", "ttl-controller",
	"legacy-serviceaccount-token-cleaner-controller",
	"selinux-warning-controller", "persistentvolume-attach-detach-controller", "persistentvolume-expander-controller",
	"persistentvolume-binder-controller", "cronjob-controller", "ttl-after-finished-controller",
	"certificatesigningrequest-cleaner-controller", "node-lifecycle-controller", "taint-eviction-controller",
	"pod-garbage-collector-controller",
}

// Needs are what every state must have for the data: ranges of addresses and ports, and controllers that stand still.
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
	if len(c.Missing) > 0 {
		off = append(off, "garbage-collector-controller") // what could not be read may own what could be
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

// house makes the nodes that Pods are on and that are not in the data: Pods without one would be deleted.
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
	resources := map[string]any{"cpu": "64", "memory": "512Gi", "pods": "500"}
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

// What one request of etcd takes, with room to spare.
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
