package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// backup is data in YAML, by key. A value without text is encrypted by a KMS plugin.
type backup [][2]string

func (b backup) Each(visit func(transplant.Entry) error) error {
	for _, one := range b {
		e := transplant.Entry{
			Key:   storage.Prefix + one[0],
			Value: func() ([]byte, error) { return []byte(one[1]), nil },
			Object: func() (*unstructured.Unstructured, error) {
				o := &unstructured.Unstructured{}
				return o, yaml.Unmarshal([]byte(one[1]), &o.Object)
			},
		}
		if one[1] == "" {
			e.Encrypted, e.Object = "kms", func() (*unstructured.Unstructured, error) { return nil, errors.New("encrypted") }
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// sink is an etcd that forgets.
type sink struct{ clientv3.KV }

func (sink) Txn(context.Context) clientv3.Txn { return txn{} }

type txn struct{ clientv3.Txn }

func (t txn) Then(...clientv3.Op) clientv3.Txn       { return t }
func (t txn) Commit() (*clientv3.TxnResponse, error) { return &clientv3.TxnResponse{}, nil }

// What a copy lacks is not judged if it is selected. Otherwise it is noted.
func TestLacksAreSelected(t *testing.T) {
	data := backup{
		{"secrets/shop/a", ""},
		{"secrets/bank/b", ""},
		{"a.example.com/orders/shop/c", ""},
		{storage.Aggregation + "/apiservices/v1.e.example.com", "{metadata: {name: v1.e.example.com}, spec: {service: {}}}"},
		{storage.Extensions + "/customresourcedefinitions/orders.a.example.com", "{metadata: {name: orders.a.example.com}, " +
			"spec: {conversion: {strategy: Webhook}, versions: [{name: v1beta1, served: true}, {name: v1, storage: true}]}}"},
		{"deployments/shop/gone", "{}"},
	}
	for _, test := range []struct {
		name         string
		only, except []string
		want         string
		notes        int
	}{
		{
			"all", nil, nil, "APIService v1.e.example.com, CustomResourceDefinition orders.a.example.com, " +
				"deployments shop/gone, jobs.batch, orders shop/c, secrets bank/b, secrets shop/a", 0,
		},
		{"one kind", []string{"Deployment"}, nil, "deployments shop/gone", 5},
		{
			"a namespace, which may have orders",
			[]string{"shop/"},
			nil,
			"CustomResourceDefinition orders.a.example.com, deployments shop/gone, jobs.batch, orders shop/c, secrets shop/a", 2,
		},
		{"a kind in a namespace", []string{"bank/Secret"}, nil, "secrets bank/b", 6},
		{
			"custom objects, and their definition",
			[]string{"Order"},
			nil,
			"CustomResourceDefinition orders.a.example.com, orders shop/c", 4,
		},
		{"a kind with its group", []string{"APIService.apiregistration.k8s.io"}, nil, "APIService v1.e.example.com", 5},
		{
			"all but some", nil,
			[]string{"Secret", "Job"},
			"APIService v1.e.example.com, CustomResourceDefinition orders.a.example.com, deployments shop/gone, " +
				"orders shop/c", 2,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			copied, err := transplant.New(data, transplant.Options{
				Name: "backup.db", Now: time.Now, Missing: []capture.Missing{{What: "jobs.batch", Why: "forbidden"}},
			})
			golden.Must(t, err)
			golden.Must(t, copied.Fill(t.Context(), sink{}))
			origin := &Origin{Copy: copied, Selection: manifests.Selection{Only: test.only, Except: test.except}}
			r := &rehearsal{
				Options: Options{Origin: origin},
				report:  &upgrades.Report{Path: []*upgrades.State{{Name: "1.34.4"}}},
			}
			r.lost(population{
				there:  map[string]types.UID{storage.Prefix + data[4][0]: ""},
				served: map[string]bool{"deployments.apps": true, "secrets": true},
			}, nil)
			r.lacking()
			var got []string
			causes := map[[3]string]bool{}
			for _, f := range r.report.Findings {
				if cause := [3]string{f.Kind, f.What, f.Words}; causes[cause] {
					t.Errorf("two findings with one cause: %s", cause)
				} else {
					causes[cause] = true
				}
				if len(f.Objects) == 0 {
					got = append(got, f.Kind)
				}
				for _, o := range f.Objects {
					got = append(got, o.Name)
				}
			}
			slices.Sort(got)
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
			noted := 0
			for _, note := range r.report.Notes {
				if strings.Contains(note, "not selected") {
					noted++
				}
			}
			if noted != test.notes {
				t.Errorf("notes %q, want %d about what is not selected", r.report.Notes, test.notes)
			}
		})
	}
}

// If a kind cannot be listed, or is not served, it is not known whether its objects are still in the copy. They do not
// count as removed.
func TestObjectsThatCannotBeListedAreNotLost(t *testing.T) {
	copied, err := transplant.New(backup{
		{"ingress/shop/a", "{}"},
		{"ingress/shop/b", "{}"},
		{"deployments/shop/gone", "{}"},
		{"podcertificaterequests/shop/c", "{}"},
		{"podcertificaterequests/shop/d", "{}"},
		{"example.com/widgets/shop/e", "{}"},
	}, transplant.Options{Name: "backup.db", Now: time.Now})
	golden.Must(t, err)
	golden.Must(t, copied.Fill(t.Context(), sink{}))
	r := &rehearsal{
		Options: Options{Origin: &Origin{Copy: copied}},
		report:  &upgrades.Report{Path: []*upgrades.State{{Name: "1.34.4"}}},
	}
	r.lost(population{served: map[string]bool{"deployments.apps": true}},
		[]capture.Missing{{What: "ingresses.networking.k8s.io", Why: "unable to decode"}})
	var got []string
	for _, f := range r.report.Findings {
		got = append(got, fmt.Sprintf("%s: %s, %d objects; %s", f.Kind, f.What, len(f.Objects), f.Advice))
	}
	const want = "ingresses.networking.k8s.io: its objects cannot be read at the first state, 0 objects; \n" +
		"deployments.apps: it was put into the copy, but no longer exists, 1 objects; \n" +
		"podcertificaterequests.certificates.k8s.io: the copy does not serve this API at the first state, 0 objects; " +
		"set --from-runtime-config and --from-feature-gates as in the origin\n" +
		"widgets.example.com: the copy does not serve this API at the first state, 0 objects; " +
		"its CustomResourceDefinition is not in the copy"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// An exception that is only about what the copy lacks leaves nothing else out, and is no mistake.
func TestExceptionsOfWhatTheCopyLacks(t *testing.T) {
	copied, err := transplant.New(backup{
		{storage.Aggregation + "/apiservices/v1.e.example.com", "{metadata: {name: v1.e.example.com}, spec: {service: {}}}"},
		{"secrets/shop/a", ""},
	}, transplant.Options{Name: "backup.db", Now: time.Now})
	golden.Must(t, err)
	golden.Must(t, copied.Fill(t.Context(), sink{}))
	there := []*manifests.Object{{Content: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "shop"},
	}}}}
	for entry, want := range map[string]string{"APIService": "", "Secret": "", "Deploymnt": `no object is of kind "Deploymnt"`} {
		r := &rehearsal{Options: Options{Origin: &Origin{Copy: copied, Selection: manifests.Selection{Except: []string{entry}}}}}
		kept, err := r.selectable(there, r.Origin.Lost(nil)).Of(there)
		if want != "" {
			golden.Error(t, err, want)
		} else if err != nil || len(kept) != 1 {
			t.Errorf("without %s: %d, %v", entry, len(kept), err)
		}
	}
}
