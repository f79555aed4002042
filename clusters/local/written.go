package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/rehearse-dev/rehearse/clusters"
)

var _ clusters.WriteLister = (*Cluster)(nil)

// Written asks etcd which keys were written.
func (c *Cluster) Written(ctx context.Context, after, upTo int64) (written map[int64][]string, err error) {
	if upTo <= after {
		return nil, nil
	}
	err = withEtcd(ctx, c.layout, func(client *clientv3.Client) (err error) {
		written, err = writes(client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(after+1)), upTo)
		return cmp.Or(ctx.Err(), err)
	})
	if err != nil {
		return nil, fmt.Errorf("ask etcd of cluster %s for the revisions %d to %d: %w", c.Name(), after+1, upTo, err)
	}
	return written, nil
}

// writes collects the keys of a watch of all keys, up to a revision. Each revision has an event.
func writes(watch clientv3.WatchChan, upTo int64) (map[int64][]string, error) {
	written := map[int64][]string{}
	for response := range watch {
		if err := response.Err(); err != nil {
			return nil, err
		}
		for _, event := range response.Events {
			if at := event.Kv.ModRevision; at <= upTo {
				written[at] = append(written[at], string(event.Kv.Key))
			}
		}
		if n := len(response.Events); n > 0 && response.Events[n-1].Kv.ModRevision >= upTo {
			return written, nil
		}
	}
	return nil, errors.New("the watch ended")
}

// withEtcd calls a function with a client of a cluster's etcd.
func withEtcd(ctx context.Context, l layout, do func(*clientv3.Client) error) (err error) {
	secured, err := l.etcdTLS()
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{l.etcdURL()}, TLS: secured, Logger: zap.NewNop(), Context: ctx,
	})
	if err != nil {
		return fmt.Errorf("make a client for etcd: %w", err)
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return do(client)
}
