package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/rehearse-dev/rehearse/clusters"
)

var _ clusters.WriteLister = (*Cluster)(nil)

// Written watches all of etcd from the first revision until the second. Each revision has an event.
func (c *Cluster) Written(ctx context.Context, after, upTo int64) (map[int64][]string, error) {
	written, err := c.watchWrites(ctx, after, upTo)
	if err != nil {
		return nil, fmt.Errorf("ask etcd of cluster %s for the revisions %d to %d: %w", c.Name(), after+1, upTo, err)
	}
	return written, nil
}

func (c *Cluster) watchWrites(ctx context.Context, after, upTo int64) (written map[int64][]string, err error) {
	written = map[int64][]string{}
	if upTo <= after {
		return written, nil
	}
	client, err := c.etcdClient(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	for response := range client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(after+1)) {
		if err := response.Err(); err != nil {
			return nil, err
		}
		last := after
		for _, event := range response.Events {
			if last = event.Kv.ModRevision; last <= upTo {
				written[last] = append(written[last], string(event.Kv.Key))
			}
		}
		if last >= upTo {
			return written, nil
		}
	}
	return nil, cmp.Or(ctx.Err(), errors.New("the watch ended"))
}
