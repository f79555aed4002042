package served

import (
	"maps"
	"sync"

	"k8s.io/client-go/rest"
)

// cluster has the Kinds of each API server of a cluster. An object that is written through one API server may define
// kinds for all of them.
type cluster struct {
	mu    sync.Mutex
	kinds []*Kinds
}

// Peer returns the Kinds of another API server of the same cluster. What was written is known to both.
func (k *Kinds) Peer(client rest.Interface, server string) *Kinds {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	peer := NewKinds(client, server)
	peer.all = k.all
	peer.defined, peer.fresh, peer.services = maps.Clone(k.defined), maps.Clone(k.fresh), maps.Clone(k.services)
	peer.more = true // it starts
	k.all.kinds = append(k.all.kinds, peer)
	return peer
}

// each calls a function for the Kinds of each API server.
func (c *cluster) each(do func(*Kinds)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kinds {
		do(k)
	}
}
