package local

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

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
	return c.fillEtcd(ctx, from.fill)
}

func (c *Cluster) fillEtcd(ctx context.Context, fill func(context.Context, clientv3.KV) error) (err error) {
	client, err := c.etcdClient(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return fill(ctx, client)
}

func (c *Cluster) etcdClient(ctx context.Context) (*clientv3.Client, error) {
	secured, err := c.layout.etcdTLS()
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{c.layout.etcdURL()}, TLS: secured, Logger: zap.NewNop(), Context: ctx,
	})
	if err != nil {
		return nil, fmt.Errorf("make a client for etcd: %w", err)
	}
	return client, nil
}
