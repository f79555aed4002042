package local

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/rehearse-dev/rehearse/clusters"
)

// origin is the initial content of etcd: nothing, unless a field is set.
type origin struct {
	// data is a folder of etcd's data to copy; "" for none.
	data string
	// fill changes the content of etcd before an API server reads it. May be nil.
	fill func(context.Context, clientv3.KV) error
}

// beginWith starts etcd with its initial content.
func (c *Cluster) beginWith(ctx context.Context, from origin) error {
	if from.data != "" {
		if err := copyTree(from.data, c.layout.data()); err != nil {
			return fmt.Errorf("copy etcd's data: %w", err)
		}
	}
	if err := c.startBalancer(ctx); err != nil {
		return err
	}
	if err := c.startEtcd(); err != nil || from.fill == nil {
		return err
	}
	if err := c.ready(ctx, clusters.Etcd); err != nil {
		return err
	}
	return withEtcd(ctx, c.layout, func(client *clientv3.Client) error { return from.fill(ctx, client) })
}
