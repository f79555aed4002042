// Package simulator is a small implementation of Porch, written from the specification of its engine's rules: an
// aggregated API server for package revisions, whose content is in git. It has bugs on request.
package simulator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Name of the simulated system.
const Name = "porch"

// Options describe where the simulator runs and how it behaves.
type Options = operator.Options

// Faults lists the bugs that the simulator has on request.
func Faults() []fault.Fault { return engine.Faults() }

// Variants lists the variants of the simulator: other readings of the specification, and one for tests.
func Variants() []string {
	var all []string
	for _, variant := range engine.Variants() {
		all = append(all, string(variant))
	}
	return all
}

// Probes are objects whose creation calls the simulator's webhooks. There are none, because it has no webhooks.
func Probes() []*unstructured.Unstructured { return nil }

// Hosts are the names that the cluster's API server expects in the simulator's certificate.
func Hosts() []string { return []string{serverName} }

// Groups are the API groups that the simulator registers.
func Groups() []string { return []string{v1alpha1.GroupVersion.Group, repositoriesResource.Group} }

// Run registers the simulator, and serves package revisions and git repositories until the context ends. The end of the
// context is not an error. The registered objects stay.
//
// On the same port, /readyz answers 200 once the API server has discovered the served API.
func Run(ctx context.Context, o Options) (err error) {
	rules, err := engine.NewRules(o.Faults, o.Variant)
	if err != nil {
		return err
	}
	liberties, err := liberty.NewSet(o.Liberties, Liberties())
	if err != nil {
		return fmt.Errorf("start the simulator %s: %w", Name, err)
	}
	liberties = liberties.Noting(o.Taken)
	config := rest.CopyConfig(o.RESTConfig)
	config.QPS = -1                           // the API server's own fairness is enough
	config.WarningHandler = rest.NoWarnings{} // it warns about the endpoint's type, which is intended
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	objects, err1 := dynamic.NewForConfig(config)
	installer, err2 := ctrlclient.New(config, ctrlclient.Options{})
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	git, err := serveGit(filepath.Join(o.CertDir, Name, "git"), o.Host)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, git.close()) }()
	data, err := openDatabase(filepath.Join(o.CertDir, Name, "etcd"))
	if err != nil {
		return err
	}
	defer data.close()

	r := &registration{client: installer, discovery: client.Discovery(), o: o, gitURL: git.url}
	proxy, err := retried(ctx, o.Logger, func() (frontProxy, error) { return readFrontProxy(ctx, client) })
	if err != nil {
		return ended(ctx, err)
	}
	serialization, err := newSerialization()
	if err != nil {
		return err
	}
	server, err := newServer(o, serialization, client, proxy, r.ready)
	if err != nil {
		return err
	}
	repositories := &repositories{client: objects, logger: o.Logger, liberties: liberties}
	resources, err := newResources(serialization.storageIn(data), strategy{
		serialization.scheme,
		names.SimpleNameGenerator,
	}, rules, liberties, repositories, o.Logger)
	if err == nil {
		err = serialization.install(server, resources)
	}
	if err != nil {
		return errors.Join(err, server.SecureServingInfo.Listener.Close())
	}
	go func() {
		if _, err := retried(ctx, o.Logger, func() (struct{}, error) { return struct{}{}, r.register(ctx) }); err != nil {
			return // the context has ended
		}
		repositories.run(ctx)
	}()
	if err := server.PrepareRun().RunWithContext(ctx); err != nil {
		return fmt.Errorf("serve at %s:%d: %w", o.Host, o.Port, err)
	}
	return nil
}

// ended returns no error if the context has ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
