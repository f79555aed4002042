package local

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/rehearse-dev/rehearse/clusters"
)

// origin is what etcd begins with: nothing, unless a field is set.
type origin struct {
	// data is a folder of etcd's data, which is copied; "" for none.
	data string
	// fill changes what etcd holds, before an API server reads it. May be nil.
	fill func(context.Context, clientv3.KV) error
}

// beginWith starts etcd on what it begins with.
func (c *Cluster) beginWith(ctx context.Context, from origin) error {
	if from.data != "" {
		if err := copyTree(from.data, c.layout.data()); err != nil {
			return fmt.Errorf("copy what is stored: %w", err)
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
	secured, err := c.layout.etcdTLS()
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{c.layout.etcdURL()}, TLS: secured, Logger: zap.NewNop(), Context: ctx,
	})
	if err != nil {
		return fmt.Errorf("make a client for etcd: %w", err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return fill(ctx, client)
}
