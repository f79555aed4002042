// Command balancer is a load balancer for kind clusters with several control planes. It is used if the image of kind's
// own load balancer, envoy, cannot be pulled. It reads the files that kind writes for envoy. It is built from this file
// alone, so it imports only the standard library.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// folder is where kind writes the port to listen on and the addresses of the API servers.
	folder = "/home/envoy"
	// readInterval is the time between two attempts to read those files. checkInterval is the time between two health
	// checks of an API server: half of the interval that kind configures for envoy.
	readInterval, checkInterval = 200 * time.Millisecond, time.Second
	// checkTimeout is the maximum duration of a health check. dialTimeout is the maximum time to open a connection.
	checkTimeout, dialTimeout = 3 * time.Second, time.Second
)

func main() {
	ctx := context.Background()
	port, servers := awaitConfig(ctx, folder)
	log.Printf("port %s is passed on to %v", port, servers)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+port)
	if err != nil {
		log.Fatal(err)
	}
	b := newBalancer(servers)
	go func() { // until the container ends: nothing else reports unhealthy API servers
		for ; ; time.Sleep(checkInterval) {
			b.check(ctx)
		}
	}()
	log.Fatal(b.serve(ctx, listener))
}

// awaitConfig waits until kind has completely written both files. Before that, they contain no addresses.
func awaitConfig(ctx context.Context, folder string) (port string, servers []string) {
	for {
		_, ports := readAddresses(filepath.Join(folder, "lds.yaml"))
		hosts, hostPorts := readAddresses(filepath.Join(folder, "cds.yaml"))
		if len(ports) == 1 && len(hosts) > 0 {
			for i, host := range hosts {
				servers = append(servers, net.JoinHostPort(host, hostPorts[i]))
			}
			return ports[0], servers
		}
		select {
		case <-ctx.Done():
			return "", nil
		case <-time.After(readInterval):
		}
	}
}

var socketAddress = regexp.MustCompile(`address:[ \t]*"?([^\s"]+)"?\s+port_value:[ \t]*(\d+)`)

// readAddresses returns the socket addresses in one of kind's files. It returns none if the file does not exist yet.
func readAddresses(path string) (hosts, ports []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil
	}
	for _, m := range socketAddress.FindAllSubmatch(data, -1) {
		hosts, ports = append(hosts, string(m[1])), append(ports, string(m[2]))
	}
	return hosts, ports
}

// server is one API server.
type server struct {
	address string
	well    atomic.Bool
}

// balancer forwards connections to the healthy servers, in turn. If no server is healthy, it tries all of them.
type balancer struct {
	servers []*server
	next    atomic.Uint32
	client  *http.Client
}

func newBalancer(addresses []string) *balancer {
	b := &balancer{client: &http.Client{Timeout: checkTimeout, Transport: &http.Transport{
		// As in the configuration that kind writes for envoy: servers are identified by their addresses, and a check sends no
		// secret.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}}
	for _, address := range addresses {
		b.servers = append(b.servers, &server{address: address})
	}
	return b
}

// check checks the health of every server once, and logs what has changed.
func (b *balancer) check(ctx context.Context) {
	var looks sync.WaitGroup
	for _, s := range b.servers {
		looks.Add(1)
		go func() {
			defer looks.Done()
			err := b.healthy(ctx, s.address)
			switch was := s.well.Swap(err == nil); {
			case was && err != nil:
				log.Printf("%s is no longer well: %v", s.address, err)
			case !was && err == nil:
				log.Printf("%s is well", s.address)
			}
		}()
	}
	looks.Wait()
}

func (b *balancer) healthy(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := b.client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// order returns the servers to try for the next connection, in this order.
func (b *balancer) order() []*server {
	var well, others []*server
	start := int(b.next.Add(1)) % len(b.servers)
	for i := range b.servers {
		s := b.servers[(start+i)%len(b.servers)]
		if s.well.Load() {
			well = append(well, s)
		} else {
			others = append(others, s)
		}
	}
	if len(well) > 0 {
		return well
	}
	return others
}

func (b *balancer) serve(ctx context.Context, listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go b.pass(ctx, connection.(*net.TCPConn))
	}
}

// pass connects a client to the first server that accepts the connection.
func (b *balancer) pass(ctx context.Context, client *net.TCPConn) {
	defer client.Close()
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, s := range b.order() {
		connection, err := dialer.DialContext(ctx, "tcp", s.address)
		if err != nil {
			s.well.Store(false)
			continue
		}
		upstream := connection.(*net.TCPConn)
		defer upstream.Close()
		var both sync.WaitGroup
		both.Add(2)
		for _, way := range [][2]*net.TCPConn{{client, upstream}, {upstream, client}} {
			go func() {
				defer both.Done()
				// When one side ends or fails, the other side sees the same.
				if _, err := io.Copy(way[1], way[0]); err != nil {
					_ = way[1].Close()
				}
				_ = way[1].CloseWrite()
			}()
		}
		both.Wait()
		return
	}
}
