package kind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answerTimeout is how long CoreDNS may take for one answer.
const answerTimeout = 2 * time.Second

// dnsProxy passes questions on to the cluster's own CoreDNS, from a port of this host's loopback.
type dnsProxy struct {
	mu       sync.Mutex
	address  string
	udp, tcp *dns.Server
}

// DNS returns the address of a server that passes every question on to the cluster's own CoreDNS.
func (c *Cluster) DNS(ctx context.Context) (string, error) {
	if err := c.await(ctx, "CoreDNS", c.dnsReady); err != nil {
		return "", err
	}
	c.dns.mu.Lock()
	defer c.dns.mu.Unlock()
	if c.dns.address != "" {
		return c.dns.address, nil
	}
	if err := c.dns.listen(dns.HandlerFunc(c.answer)); err != nil {
		return "", fmt.Errorf("listen for DNS questions: %w", err)
	}
	return c.dns.address, nil
}

// listen takes a port that is free for both UDP and TCP.
func (p *dnsProxy) listen(handler dns.Handler) error {
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

func (p *dnsProxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.address == "" {
		return
	}
	_, _ = p.udp.Shutdown(), p.tcp.Shutdown()
	p.address = ""
}

// answer passes one question on, by TCP: a tunnel takes nothing else. Where CoreDNS cannot be reached there is no answer at all, as there would be
// none from it.
func (c *Cluster) answer(w dns.ResponseWriter, question *dns.Msg) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	reply, err := c.ask(ctx, question)
	if err != nil {
		c.provider.Progress("kind cluster %s: no answer from CoreDNS: %v", c.record.Name, err)
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

func (c *Cluster) ask(ctx context.Context, question *dns.Msg) (*dns.Msg, error) {
	pods, err := c.dnsPods(ctx)
	if err != nil {
		return nil, err
	}
	return c.askPod(ctx, pods[0], question)
}

// dnsPods are those of CoreDNS that are ready: one at least.
func (c *Cluster) dnsPods(ctx context.Context) ([]string, error) {
	list, err := c.client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
	if err != nil {
		return nil, err
	}
	var ready []string
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && isReady(pod) {
			ready = append(ready, pod.Name)
		}
	}
	if len(ready) == 0 {
		return nil, fmt.Errorf("none of %d pods of CoreDNS is ready", len(list.Items))
	}
	return ready, nil
}

func (c *Cluster) askPod(ctx context.Context, pod string, question *dns.Msg) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	tunnel, err := c.dial(ctx, metav1.NamespaceSystem, pod, 53)
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

// dnsCurrent waits until every CoreDNS knows a Service that is made now, and gone afterwards. When the API server was away CoreDNS tries again at ever
// longer intervals, up to a minute, and until then it answers from what was: that is not to be taken for an answer of the new state. Told to read its
// configuration again it asks the API server at once.
func (c *Cluster) dnsCurrent(ctx context.Context) error {
	services := c.client.CoreV1().Services(metav1.NamespaceSystem)
	canary, err := services.Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "rehearse-dns-"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "rehearse.invalid"},
	}, metav1.CreateOptions{})
	if err != nil {
		// A scenario's own webhook may be in the way, and it is not for us to judge that.
		c.provider.Progress("kind cluster %s: whether CoreDNS is up to date was not seen: %v", c.record.Name, err)
		return nil
	}
	question := new(dns.Msg).SetQuestion(dns.Fqdn(canary.Name+"."+canary.Namespace+".svc.cluster.local"), dns.TypeCNAME)
	told := false
	err = c.await(ctx, "CoreDNS", func(ctx context.Context) error {
		pods, err := c.dnsPods(ctx)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			reply, err := c.askPod(ctx, pod, question)
			if err != nil {
				return err
			}
			if reply.Rcode == dns.RcodeSuccess {
				continue
			}
			if !told {
				told = true
				err = c.reloadDNS(ctx)
			}
			return errors.Join(fmt.Errorf("%s does not know yet what is new: %s", pod, dns.RcodeToString[reply.Rcode]), err)
		}
		return nil
	})
	removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), oneLook)
	defer cancel()
	if removeErr := services.Delete(removal, canary.Name, metav1.DeleteOptions{}); removeErr != nil && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("remove the Service by which CoreDNS was tried: %w", removeErr))
	}
	return err
}

// reloadDNS tells every CoreDNS to read its configuration again, without an end to its service.
func (c *Cluster) reloadDNS(ctx context.Context) error {
	for _, n := range c.nodes {
		if _, err := n.shell(ctx, "pkill -USR1 -x coredns || true"); err != nil {
			return err
		}
	}
	return nil
}

func isReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
