package clusters

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Seeder is a Provider whose clusters may begin with what was stored elsewhere.
type Seeder interface {
	// CreateSeeded is Create, but etcd begins with what the seed puts there.
	CreateSeeded(ctx context.Context, name string, state State, seed Seed) (Cluster, error)
}

// Seed is what a cluster's etcd begins with.
type Seed interface {
	// Fill puts it there, before an API server reads it. No events, no watches: nobody else is connected yet.
	Fill(ctx context.Context, etcd clientv3.KV) error
}
