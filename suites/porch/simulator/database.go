package simulator

import (
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// databasePatience is how long the database may take to start.
const databasePatience = 30 * time.Second

// database is the simulator's own etcd: it keeps its data when the simulator is killed.
type database struct {
	server *embed.Etcd
}

// openDatabase starts an etcd in this process, on free loopback ports.
func openDatabase(dir string) (*database, error) {
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config := embed.NewConfig()
	config.Name = Name
	config.Dir = dir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync, config.EnableGRPCGateway = true, false
	config.LogLevel = "fatal" // its clients report errors
	// A single member elects itself; it need not wait the default second for others.
	config.TickMs, config.ElectionMs = 10, 100
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start the database in %s: %w", dir, err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return &database{server: server}, nil
	case err := <-server.Err():
		return nil, fmt.Errorf("start the database in %s: %w", dir, err)
	case <-time.After(databasePatience):
		server.Close()
		return nil, fmt.Errorf("the database in %s was not ready within %s", dir, databasePatience)
	}
}

// address of the database for clients.
func (d *database) address() string { return "http://" + d.server.Clients[0].Addr().String() }

func (d *database) close() { d.server.Close() }
