package realtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const (
	benchNodes   = 500
	benchGangs   = 500
	benchMembers = 10
)

var (
	podResource      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	podGroupResource = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha2", Resource: "podgroups"}
)

// BenchmarkGangs measures how the real kube-scheduler places 5,000 pods in gangs of ten on 500 simulated nodes:
// alone, and while the harness records every change of every pod and judges assertions on them. Each is done four times
// after a first round that is not counted, in an order in which the age of the cluster slows down both equally. The
// figures are medians, since a single round may take a quarter longer without a reason that can be seen.
func BenchmarkGangs(b *testing.B) {
	state := clusters.State{
		Version:       "1.36",
		FeatureGates:  map[string]bool{"GenericWorkload": true, "GangScheduling": true},
		RuntimeConfig: map[string]string{"scheduling.k8s.io/v1alpha2": "true"},
	}
	for b.Loop() {
		cluster := clusterWithNodes(b, state)
		client, err := dynamic.NewForConfig(cluster.RESTConfig())
		golden.Must(b, err)
		g := gangs{
			config: cluster.RESTConfig(), pods: client.Resource(podResource).Namespace("default"),
			groups: client.Resource(podGroupResource).Namespace("default"),
		}
		var first, alone, watched placing
		g.place(b, cluster, false, &first)
		for range 2 {
			g.place(b, cluster, false, &alone)
			g.place(b, cluster, true, &watched)
			g.place(b, cluster, true, &watched)
			g.place(b, cluster, false, &alone)
		}
		b.ReportMetric(alone.rate(), "pods/s-alone")
		b.ReportMetric(watched.rate(), "pods/s-watched")
		b.ReportMetric(100*(1-watched.rate()/alone.rate()), "%-slower-watched")
		// CPU time of the cluster and the harness: other load on the machine slows the run, but does not add to it.
		b.ReportMetric(100*(watched.cpu()/alone.cpu()-1), "%-more-cpu-watched")
		b.ReportMetric(alone.cluster()/thousands, "cpu-s/1000-pods-alone")
		b.ReportMetric(watched.cluster()/thousands, "cpu-s/1000-pods-watched")
		b.ReportMetric((watched.harness()-alone.harness())/thousands, "cpu-s/1000-pods-of-harness")
		b.ReportMetric(peakMemory(b), "MB/peak-of-harness")
	}
}

const thousands = float64(benchGangs*benchMembers) / 1000

// placing is what it cost to place all pods, in each round.
type placing []round

type round struct{ time, cluster, harness time.Duration }

// cpu returns the CPU time of the cluster and this process, in seconds.
func (p placing) cpu() float64 {
	return p.median(func(r round) time.Duration { return r.cluster + r.harness })
}

// cluster returns the CPU time of the cluster, in seconds.
func (p placing) cluster() float64 { return p.median(func(r round) time.Duration { return r.cluster }) }

// harness returns the CPU time of this process, in seconds.
func (p placing) harness() float64 { return p.median(func(r round) time.Duration { return r.harness }) }

func (p placing) rate() float64 {
	return 1000 * thousands / p.median(func(r round) time.Duration { return r.time })
}

func (p placing) median(of func(round) time.Duration) float64 {
	var all []float64
	for _, r := range p {
		all = append(all, of(r).Seconds())
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// clusterWithNodes makes a cluster of 500 nodes. It reports how long the nodes took, and how long all of it took.
func clusterWithNodes(b *testing.B, state clusters.State) clusters.Cluster {
	b.Helper()
	p := clustertest.Local(b)
	state, err := p.Resolve(b.Context(), state)
	golden.Must(b, err)
	golden.Must(b, p.Prepare(b.Context(), state))
	began := time.Now()
	cluster, err := p.Create(b.Context(), "gangs", state)
	golden.Must(b, err)
	b.Cleanup(func() {
		if err := cluster.Delete(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	created := time.Now()
	count := benchNodes
	state.Nodes = []clusters.NodeGroup{{Count: &count}}
	golden.Must(b, cluster.Converge(b.Context(), state))
	b.ReportMetric(time.Since(created).Seconds(), "s/500-nodes-ready")
	b.ReportMetric(time.Since(began).Seconds(), "s/cluster-with-500-nodes")
	return cluster
}

// gangs are pods that a kube-scheduler places, in the namespace default.
type gangs struct {
	config       *rest.Config
	pods, groups dynamic.ResourceInterface
}

// place creates the gangs, waits until the last pod has a node, and removes the gangs.
func (g gangs) place(b *testing.B, cluster clusters.Cluster, watch bool, p *placing) {
	b.Helper()
	verdicts := func() {}
	if watch {
		verdicts = g.watched(b)
	}
	began := time.Now()
	clusterBefore, harnessBefore := processorTime(b, cluster)
	golden.Must(b, g.create(b.Context()))
	// This query for pods without a node is cheap, since kube-apiserver has an index for it.
	golden.Must(b, untilNone(b.Context(), g.pods, "spec.nodeName="))
	took := time.Since(began)
	clusterAfter, harnessAfter := processorTime(b, cluster)
	*p = append(*p, round{took, clusterAfter - clusterBefore, harnessAfter - harnessBefore})
	b.Logf("watched: %t; %s; %s of processors in the cluster, %s here; load %s", watch, took.Round(time.Millisecond),
		(clusterAfter - clusterBefore).Round(time.Millisecond), (harnessAfter - harnessBefore).Round(time.Millisecond),
		load(b))
	verdicts()
	golden.Must(b, g.remove(b.Context()))
}

// create creates all groups, and all pods of each group.
func (g gangs) create(ctx context.Context) error {
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(16)
	for i := range benchGangs {
		workers.Go(func() error {
			name := fmt.Sprintf("gang-%d", i)
			group := object("scheduling.k8s.io/v1alpha2", "PodGroup", name)
			group.Object["spec"] = map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(benchMembers)}}}
			if _, err := g.groups.Create(ctx, group, metav1.CreateOptions{}); err != nil {
				return err
			}
			for member := range benchMembers {
				pod := object("v1", "Pod", fmt.Sprintf("%s-%d", name, member))
				pod.SetLabels(map[string]string{"gang": name})
				pod.Object["spec"] = map[string]any{
					"automountServiceAccountToken": false,
					"schedulingGroup":              map[string]any{"podGroupName": name},
					"containers": []any{map[string]any{
						"name": "main", "image": "main",
						"resources": map[string]any{"requests": map[string]any{"cpu": "1"}},
					}},
				}
				if _, err := g.pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return workers.Wait()
}

// untilNone returns as soon as the list is empty.
func untilNone(ctx context.Context, resource dynamic.ResourceInterface, fields string) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool,
		error,
	) {
		list, err := resource.List(ctx, metav1.ListOptions{FieldSelector: fields, Limit: 1})
		return err == nil && len(list.Items) == 0, err
	})
}

// remove deletes the pods and their groups, so that every round starts with an empty cluster.
func (g gangs) remove(ctx context.Context) error {
	for _, resource := range []dynamic.ResourceInterface{g.pods, g.groups} {
		if err := resource.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)},
			metav1.ListOptions{}); err != nil {
			return err
		}
		if err := untilNone(ctx, resource, ""); err != nil {
			return err
		}
	}
	return nil
}

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": name},
	}}
}
