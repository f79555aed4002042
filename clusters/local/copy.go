package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/rehearse-dev/rehearse/clusters"
)

// copied is what was stored in a cluster, in a folder that is swept like a cluster's.
type copied struct {
	dir  string
	lock *os.File
}

func (c *copied) data() string { return filepath.Join(c.dir, "etcd") }

// Discard removes the folder.
func (c *copied) Discard() error { return errors.Join(removeFolder(c.dir), c.lock.Close()) }

// Copy keeps etcd's data.
func (p *Provider) Copy(_ context.Context, cluster clusters.Cluster, name string) (clusters.Copied, error) {
	c, ok := cluster.(*Cluster)
	if !ok {
		return nil, fmt.Errorf("copy cluster %s: it is a %T, and no local one", cluster.Name(), cluster)
	}
	dir, lock, err := p.folders().Claim(name)
	if err != nil {
		return nil, fmt.Errorf("copy cluster %s: %w", c.Name(), err)
	}
	kept := &copied{dir, lock}
	if err := c.copyData(kept.data()); err != nil {
		return nil, errors.Join(fmt.Errorf("copy cluster %s: %w", c.Name(), err), kept.Discard())
	}
	return kept, nil
}

// CreateFrom brings up a control plane on a copy of another one's data.
func (p *Provider) CreateFrom(ctx context.Context, name string, state clusters.State,
	from clusters.Copied,
) (clusters.Cluster, error) {
	kept, ok := from.(*copied)
	if !ok {
		return nil, fmt.Errorf("create cluster %s from a %T: it is no copy of a local cluster", name, from)
	}
	return p.createFrom(ctx, name, state, origin{data: kept.data(), fill: disown})
}

// foreign are the beginnings of the keys of what belongs to the cluster that data was copied from. Its own API server
// and controllers make anew what a cluster must have of it, as they do where nothing is stored.
var foreign = []string{
	"/registry/apiregistration.k8s.io/apiservices/", // where aggregated API servers are, and whether they answer
	"/registry/endpointslices/default/kubernetes",   // the API server's port
	"/registry/events/",
	"/registry/leases/", // who simulates a node, who is an API server
	"/registry/masterleases/",
	"/registry/mutatingwebhookconfigurations/", // who serves them, and with which certificate
	"/registry/validatingwebhookconfigurations/",
	"/registry/services/endpoints/default/kubernetes",
	"/registry/services/specs/default/kubernetes",
	"/registry/ipaddresses/" + apiServerService,
	// up to 1.33: else the address of the Service above is taken already
	"/registry/ranges/serviceips",
	"/registry/configmaps/kube-system/extension-apiserver-authentication", // authorities
}

// foreignName is the name of a ConfigMap that every namespace has: the authority of API servers.
const foreignName = "/kube-root-ca.crt"

// disown removes what is foreign, before an API server reads it.
func disown(ctx context.Context, etcd clientv3.KV) error {
	for _, prefix := range foreign {
		if _, err := etcd.Delete(ctx, prefix, clientv3.WithPrefix()); err != nil {
			return fmt.Errorf("remove from the copy what is the other cluster's own: %w", err)
		}
	}
	all, err := etcd.Get(ctx, "/registry/configmaps/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("list the copied ConfigMaps: %w", err)
	}
	for _, entry := range all.Kvs {
		if strings.HasSuffix(string(entry.Key), foreignName) {
			if _, err := etcd.Delete(ctx, string(entry.Key)); err != nil {
				return fmt.Errorf("remove from the copy %s: %w", entry.Key, err)
			}
		}
	}
	return nil
}
