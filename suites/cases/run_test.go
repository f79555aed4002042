package cases

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// provider has one cluster, which is a server in memory.
type provider struct {
	server *apitest.Server
}

func (*provider) Name() string { return "fake" }

func (*provider) Has(context.Context, clusters.Ability, clusters.State) (bool, error) {
	return true, nil
}

func (*provider) Check(context.Context, []clusters.State) error { return nil }

func (*provider) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	return state, nil
}

func (*provider) Prepare(context.Context, clusters.State) error { return nil }

func (p *provider) Create(context.Context, string, clusters.State) (clusters.Cluster, error) {
	return &cluster{server: p.server}, nil
}

type cluster struct {
	clusters.Cluster
	server *apitest.Server
}

func (*cluster) Name() string { return "one" }

func (*cluster) State() clusters.State { return clusters.State{Version: "1.36.3"} }

func (c *cluster) RESTConfig() *rest.Config { return c.server.Config() }

func (*cluster) Delete(context.Context) error { return nil }

// Verdicts are reported even if the namespace cannot be removed. Only the rules after it are not judged.
func TestRulesAreJudgedBeforeACleanUpThatFails(t *testing.T) {
	server := apitest.New(t)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "delete" && r.Kind == "Namespace" {
			return &apitest.Fault{Status: apitest.Status(403, "Forbidden", "no")}
		}
		return nil
	})
	rule := func(allowed bool) Rule {
		return Rule{Name: "any", Begin: func(context.Context, World) (Draw, error) {
			return func(t *rapid.T) Case {
				name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
				return Case{
					Input: name, Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
					Allowed: allowed, Object: map[string]any{
						"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
					},
				}
			}, nil
		}}
	}
	results, err := Run(t.Context(), []Rule{rule(false), rule(true)},
		Options{Cases: 3, Seed: 1, Provider: &provider{server: server}, Prefix: "test"})
	if err == nil || !strings.Contains(err.Error(), "remove namespace test-cases-1-1") {
		t.Errorf("the error is %v", err)
	}
	if len(results) != 2 || results[0].Disagreement == nil || results[0].Err != nil || results[1].Err == nil ||
		results[1].Disagreement != nil {
		t.Errorf("the results are %+v", results)
	}
}
