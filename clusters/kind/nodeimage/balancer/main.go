// Command balancer is the load balancer of a kind cluster with several control planes if the image of kind's own load
// balancer, envoy, cannot be pulled. It reads the files that kind writes for envoy. It imports only the standard
// library, because it is built from this file alone.
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
	// folder in which kind writes what to listen on and whom to pass connections on to.
	folder = "/home/envoy"
	// readInterval is between two looks for those files, checkInterval between two looks at every API server: half of what
	// kind tells envoy.
	readInterval, checkInterval = 200 * time.Millisecond, time.Second
	// checkTimeout is how long an API server may take to say that it is well, dialTimeout how long to take a connection.
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
	go func() { // for as long as the container lives; nobody tells of an API server that is not well
		for ; ; time.Sleep(checkInterval) {
			b.check(ctx)
		}
	}()
	log.Fatal(b.serve(ctx, listener))
}

// awaitConfig waits until kind has written both files as a whole: before that they have no addresses.
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

// readAddresses finds the socket addresses in one of kind's files; none while it is not there.
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

// balancer passes connections on to servers that are well, in turn; where none is, to any that takes them.
type balancer struct {
	servers []*server
	next    atomic.Uint32
	client  *http.Client
}

func newBalancer(addresses []string) *balancer {
	b := &balancer{client: &http.Client{Timeout: checkTimeout, Transport: &http.Transport{
		// As kind has envoy do it: the servers are known by their addresses, and a check sends no secret.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}}
	for _, address := range addresses {
		b.servers = append(b.servers, &server{address: address})
	}
	return b
}

// check looks once at every server, and says what has changed.
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

// order is in which servers are tried for the next connection.
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

// pass connects a client to the first server that takes the connection.
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
				// Each side learns how the other one ended.
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
