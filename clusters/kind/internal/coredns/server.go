// Package coredns answers DNS queries with the cluster's own CoreDNS.
package coredns

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
)

// answerTimeout is how long CoreDNS may take for one answer.
const answerTimeout = 2 * time.Second

// proxy forwards queries to the cluster's own CoreDNS, from a port of this host's loopback.
type proxy struct {
	mu       sync.Mutex
	address  string
	udp, tcp *dns.Server
}

// Server answers DNS queries for the cluster.
type Server struct {
	*live.Cluster
	proxy proxy
}

// Address returns the address of a server that forwards every query to the cluster's own CoreDNS.
func (c *Server) Address(ctx context.Context) (string, error) {
	if err := c.Await(ctx, "CoreDNS", c.DNSReady); err != nil {
		return "", err
	}
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	if c.proxy.address != "" {
		return c.proxy.address, nil
	}
	if err := c.proxy.listen(dns.HandlerFunc(c.answer)); err != nil {
		return "", fmt.Errorf("listen for DNS questions: %w", err)
	}
	return c.proxy.address, nil
}

// listen opens a port that is free for both UDP and TCP.
func (p *proxy) listen(handler dns.Handler) error {
	var last error
	for range 10 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		listener, err := net.Listen("tcp", packets.LocalAddr().String())
		if err != nil {
			_ = packets.Close()
			last = err
			continue
		}
		p.address = packets.LocalAddr().String()
		p.udp, p.tcp = &dns.Server{PacketConn: packets, Handler: handler}, &dns.Server{Listener: listener, Handler: handler}
		for _, server := range []*dns.Server{p.udp, p.tcp} {
			started := make(chan struct{})
			server.NotifyStartedFunc = func() { close(started) }
			go func() { _ = server.ActivateAndServe() }()
			<-started
		}
		return nil
	}
	return last
}

func (p *proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address == "" {
		return
	}
	_, _ = p.udp.Shutdown(), p.tcp.Shutdown()
	p.address = ""
}

// answer forwards one query by TCP, because a tunnel supports nothing else. If CoreDNS cannot be reached, it sends no
// answer, just as CoreDNS would.
func (c *Server) answer(w dns.ResponseWriter, question *dns.Msg) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	reply, err := c.ask(ctx, question)
	if err != nil {
		c.Say("no answer from CoreDNS: %v", err)
		return
	}
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
		size := dns.MinMsgSize
		if option := question.IsEdns0(); option != nil {
			size = int(option.UDPSize())
		}
		reply.Truncate(size)
	}
	_ = w.WriteMsg(reply)
}

func (c *Server) ask(ctx context.Context, question *dns.Msg) (*dns.Msg, error) {
	pods, err := c.DNSPods(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return c.askPod(ctx, pods[0], question)
}

func (c *Server) askPod(ctx context.Context, pod string, question *dns.Msg) (*dns.Msg, error) {
	tunnel, err := c.Dial(ctx, metav1.NamespaceSystem, pod, 53)
	if err != nil {
		return nil, err
	}
	defer tunnel.Close()
	stop := context.AfterFunc(ctx, func() { _ = tunnel.Close() })
	defer stop()
	connection := &dns.Conn{Conn: tunnel}
	if err := connection.WriteMsg(question); err != nil {
		return nil, err
	}
	return connection.ReadMsg()
}

// Close stops the server; c is nil if the cluster was never connected.
func (c *Server) Close() {
	if c != nil {
		c.proxy.close()
	}
}
