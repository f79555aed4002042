package transplant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// stored is one value of a backup: YAML, or what encrypted it.
type stored struct{ key, text, encrypted string }

type stores []stored

func (s stores) Each(visit func(Entry) error) error {
	for _, one := range s {
		err := visit(Entry{
			Key: storage.Prefix + one.key, Encrypted: one.encrypted,
			Value: func() ([]byte, error) { return []byte(one.text), nil },
			Object: func() (*unstructured.Unstructured, error) {
				o := &unstructured.Unstructured{}
				if one.encrypted != "" || one.text == "" {
					return nil, errors.New("it cannot be decoded")
				}
				return o, yaml.Unmarshal([]byte(one.text), &o.Object)
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sink is an etcd that forgets.
type sink struct{ clientv3.KV }

func (sink) Txn(context.Context) clientv3.Txn { return sunk{} }

type sunk struct{ clientv3.Txn }

func (s sunk) Then(...clientv3.Op) clientv3.Txn       { return s }
func (s sunk) Commit() (*clientv3.TxnResponse, error) { return &clientv3.TxnResponse{}, nil }

func filled(t *testing.T, data Data, o Options) *Copy {
	t.Helper()
	o.Name, o.Now = "backup.db", time.Now
	c, err := New(data, o)
	golden.Must(t, err)
	golden.Must(t, c.Fill(t.Context(), sink{}))
	return c
}

// The garbage collector is off if the copy lacks an object, because it would delete what the object owns.
func TestGarbageCollectorIsOffIfOwnersAreMissing(t *testing.T) {
	for _, test := range []struct {
		name  string
		entry stored
		off   bool
	}{
		{"all is there", stored{key: "pods/a/b", text: "{}"}, false},
		{"the API server can decrypt it", stored{key: "secrets/a/b", encrypted: "aescbc"}, false},
		{"a KMS plugin encrypted it", stored{key: "secrets/a/b", encrypted: "kms"}, true},
		{"it is encrypted, and would have to be adapted", stored{key: "minions/a", encrypted: "aescbc"}, true},
		{"it cannot be decoded", stored{key: "podsecuritypolicy/a"}, true},
		{"no copy has it", stored{key: "events/a/b", encrypted: "kms"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := filled(t, stores{{key: "configmaps/a/b", text: "{}"}, test.entry}, Options{})
			needs, err := c.Needs()
			golden.Must(t, err)
			controllers := *needs.Components["kube-controller-manager"].Flags["controllers"]
			if off := strings.Contains(controllers, ",-garbage-collector-controller"); off != test.off {
				t.Errorf("it is off: %t, want %t; controllers %s", off, test.off, controllers)
			}
			if noted := strings.Contains(strings.Join(c.Notes(), "\n"), "the garbage collector was off"); noted != test.off {
				t.Errorf("notes %q", c.Notes())
			}
		})
	}
}

// answers is an Answerer that runs the programs of all webhooks.
type answers struct{ Answerer }

func (answers) Runs(Hook) bool { return true }

// Without its conversion webhook, an object that is stored in another version than the stored one is misread.
func TestObjectsThatNeedAConversionWebhook(t *testing.T) {
	definition := func(name, strategy string) stored {
		text := "{kind: CustomResourceDefinition, metadata: {name: " + name + "}, spec: {conversion: {strategy: " +
			strategy + "}, versions: [{name: v1beta1, served: false}, {name: v1, served: true, storage: true}]}}"
		return stored{key: storage.Extensions + "/customresourcedefinitions/" + name, text: text}
	}
	data := stores{
		{key: "a.example.com/orders/shop/old", text: "{apiVersion: a.example.com/v1beta1, kind: Order}"},
		{key: "a.example.com/orders/shop/new", text: "{apiVersion: a.example.com/v1, kind: Order}"},
		{key: "a.example.com/orders/shop/secret", encrypted: "aescbc"},
		{key: "a.example.com/plain/old", text: "{apiVersion: a.example.com/v1beta1, kind: Plain}"},
		definition("orders.a.example.com", "Webhook"), definition("plain.a.example.com", "None"),
	}
	var got []string
	for _, lack := range filled(t, data, Options{}).Lacks() {
		why, _, _ := strings.Cut(lack.Why, ",")
		got = append(got, lack.Kind+" "+lack.Name+": "+why)
	}
	want := []string{
		"orders.a.example.com shop/old: it is stored as v1beta1",
		"orders.a.example.com shop/secret: its conversion webhook does not run in the copy",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// With a program that answers the webhook, the API server can read all versions.
func TestConversionWebhookThatRuns(t *testing.T) {
	c := &Copy{Options: Options{Webhooks: answers{}}, facts: &facts{conversions: map[string]conversion{
		"orders.a.example.com": {stored: "v1"},
	}}}
	old := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "a.example.com/v1beta1"}}
	c.unconverted(Entry{Key: storage.Prefix + "a.example.com/orders/shop/old"}, old, nil)
	if len(c.Lacks()) > 0 {
		t.Errorf("lacks %v", c.Lacks())
	}
}

// Lacks name objects as their keys do.
func TestLacksOfEncryptedObjects(t *testing.T) {
	data := stores{
		{key: "a.example.com/orders/shop/one", encrypted: "kms"},
		{key: "deployments/shop/web", encrypted: "kms"},
		{key: "minions/one", encrypted: "aescbc"},
	}
	var got []string
	for _, lack := range filled(t, data, Options{}).Lacks() {
		got = append(got, lack.Kind+" "+lack.Name)
	}
	want := []string{"orders.a.example.com shop/one", "deployments.apps shop/web", "nodes one"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// While a busy cluster is read, it deletes objects: pods may be read before their Job is gone. It deletes them, too.
func TestObjectsWhoseOwnerIsGone(t *testing.T) {
	of := func(version, kind, uid string) string {
		return "ownerReferences: [{apiVersion: " + version + ", kind: " + kind + ", name: a, uid: " + uid + ", controller: true}]"
	}
	data := stores{
		{"pods/n/lost", "metadata: {name: lost, " + of("batch/v1", "Job", "gone") + "}", ""},
		{"jobs/n/a", "metadata: {name: a, uid: job, " + of("batch/v1", "CronJob", "gone") + "}", ""},
		{"pods/n/of-a", "metadata: {name: of-a, " + of("batch/v1", "Job", "job") + "}", ""},
		{"replicasets/n/b", "metadata: {name: b, uid: set}", ""},
		{"pods/n/of-b", "metadata: {name: of-b, " + of("apps/v1", "ReplicaSet", "set") + "}", ""},
		{"pods/n/custom", "metadata: {name: custom, " + of("example.com/v1", "Job", "other") + "}", ""},
		{"pods/n/mirror", "metadata: {name: mirror, " + of("v1", "Node", "node") + "}", ""},
		{"secrets/n/s", "metadata: {name: s, " + of("batch/v1", "Job", "gone") + "}", ""},
	}
	c := filled(t, data, Options{})
	want := []string{"replicasets/n/b", "pods/n/of-b", "pods/n/custom", "pods/n/mirror", "secrets/n/s"}
	for i := range want {
		want[i] = storage.Prefix + want[i]
	}
	if !slices.Equal(c.put, want) {
		t.Errorf("put %q, want %q", c.put, want)
	}
	if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, "3 objects whose owner was deleted") {
		t.Error(notes)
	}
	there := map[string]types.UID{}
	for _, key := range c.put {
		there[key] = "new"
	}
	there[storage.Prefix+"replicasets/n/b"] = "set"
	if lost := c.Lost(there); len(lost) > 0 { // these pods have no UID in the data
		t.Errorf("lost %q", lost)
	}
	there[storage.Prefix+"replicasets/n/b"] = "replaced"
	if lost := c.Lost(there); !slices.Equal(lost, []string{storage.Prefix + "replicasets/n/b"}) {
		t.Errorf("lost %q, want what was replaced", lost)
	}
	encrypted := append(slices.Clone(data), stored{"replicasets/n/c", "", "aescbc"})
	if c := filled(t, encrypted, Options{}); len(c.put) != len(encrypted) {
		t.Errorf("owners that are encrypted count as deleted: %q", c.put)
	}
	incomplete := filled(t, data, Options{Missing: []capture.Missing{{What: "jobs.batch", Why: "forbidden"}}})
	if len(incomplete.put) != len(data) {
		t.Errorf("owners that could not be read count as deleted: %q", incomplete.put)
	}
}
