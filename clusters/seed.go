package clusters

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Seeder is a Provider whose clusters can start with data from elsewhere.
type Seeder interface {
	// CreateSeeded is Create, but etcd starts with the data of the seed.
	CreateSeeded(ctx context.Context, name string, state State, seed Seed) (Cluster, error)
}

// Seed is the initial data of a cluster's etcd.
type Seed interface {
	// Fill writes the data before an API server reads it. No other client is connected yet: no events, no watches.
	Fill(ctx context.Context, etcd clientv3.KV) error
}
