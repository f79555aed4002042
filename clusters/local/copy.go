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

// copied is a copy of a cluster's data. If a killed run leaves its folder behind, the folder is removed like a
// cluster's.
type copied struct {
	dir  string
	lock *os.File
}

func (c *copied) data() string { return filepath.Join(c.dir, "etcd") }

// Discard removes the copy.
func (c *copied) Discard() error { return errors.Join(removeFolder(c.dir), c.lock.Close()) }

// Copy copies the etcd data of a cluster.
func (p *Provider) Copy(ctx context.Context, cluster clusters.Cluster, name string) (clusters.Copied, error) {
	c, ok := cluster.(*Cluster)
	if !ok {
		return nil, fmt.Errorf("copy cluster %s: it is a %T, not a local cluster", cluster.Name(), cluster)
	}
	dir, lock, err := p.folders().Claim(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("copy cluster %s: %w", c.Name(), err)
	}
	kept := &copied{dir, lock}
	if err := c.copyData(kept.data()); err != nil {
		return nil, errors.Join(fmt.Errorf("copy cluster %s: %w", c.Name(), err), kept.Discard())
	}
	return kept, nil
}

// CreateFrom creates a cluster from a copy of another cluster's data.
func (p *Provider) CreateFrom(ctx context.Context, name string, state clusters.State,
	from clusters.Copied,
) (clusters.Cluster, error) {
	kept, ok := from.(*copied)
	if !ok {
		return nil, fmt.Errorf("create cluster %s from a %T: it is not a copy of a local cluster", name, from)
	}
	return p.createFrom(ctx, name, state, origin{data: kept.data(), fill: disown})
}

// foreign are the keys that are specific to the copied cluster; one that ends in a slash is the prefix of keys. The API
// server and the controllers of the new cluster create these objects again if they need them, as with an empty etcd.
var foreign = []string{
	"/registry/apiregistration.k8s.io/apiservices/", // the addresses and states of aggregated API servers
	"/registry/endpointslices/default/kubernetes",   // the API server's port
	"/registry/events/",
	"/registry/leases/", // the identities of API servers and of the process that simulates nodes
	"/registry/masterleases/",
	"/registry/mutatingwebhookconfigurations/", // the address and certificate of each webhook
	"/registry/validatingwebhookconfigurations/",
	"/registry/services/endpoints/default/kubernetes",
	"/registry/services/specs/default/kubernetes",
	"/registry/ipaddresses/" + apiServerService,
	// up to 1.33: otherwise the address of the Service above is already allocated
	"/registry/ranges/serviceips",
	"/registry/configmaps/kube-system/extension-apiserver-authentication", // authorities
}

// foreignName is the end of the key of a ConfigMap that every namespace has. The ConfigMap contains the authority of
// the API servers.
const foreignName = "/kube-root-ca.crt"

// disown removes the foreign keys before an API server reads them.
func disown(ctx context.Context, etcd clientv3.KV) error {
	for _, key := range foreign {
		var options []clientv3.OpOption
		if strings.HasSuffix(key, "/") {
			options = append(options, clientv3.WithPrefix())
		}
		if _, err := etcd.Delete(ctx, key, options...); err != nil {
			return fmt.Errorf("remove the other cluster's own objects from the copy: %w", err)
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
