package coredns

import (
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
)

// Current waits until every CoreDNS knows a Service that it creates for this test. After the API server was away,
// CoreDNS retries at growing intervals of up to a minute, and answers from its old data until then. Such answers must
// not count as those of the new state. When its configuration is reloaded, CoreDNS asks the API server at once.
func (c *Server) Current(ctx context.Context) error {
	services := c.Client.CoreV1().Services(metav1.NamespaceSystem)
	var canary *corev1.Service
	var rejected error
	if err := c.Await(ctx, "the API server", func(ctx context.Context) (err error) {
		canary, err = services.Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "rehearse-dns-"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "rehearse.invalid"},
		}, metav1.CreateOptions{})
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			rejected, err = err, nil
		}
		return err
	}); err != nil {
		return fmt.Errorf("create a Service to test CoreDNS: %w", err)
	}
	if rejected != nil {
		// A scenario's own webhook may reject it, which is not an error here.
		c.Say("it is unknown whether CoreDNS is up to date: %v", rejected)
		return nil
	}
	question := new(dns.Msg).SetQuestion(dns.Fqdn(canary.Name+"."+canary.Namespace+".svc.cluster.local"), dns.TypeCNAME)
	told := false
	err := c.Await(ctx, "CoreDNS", func(ctx context.Context) error {
		pods, err := c.DNSPods(ctx)
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
				err = c.ReloadDNS(ctx)
			}
			return errors.Join(fmt.Errorf("%s does not know the new Service yet: %s",
				pod, dns.RcodeToString[reply.Rcode]), err)
		}
		return nil
	})
	removal, cancel := context.WithTimeout(context.WithoutCancel(ctx), live.OneLook)
	defer cancel()
	if removeErr := services.Delete(removal, canary.Name, metav1.DeleteOptions{}); removeErr != nil && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("remove the test Service of CoreDNS: %w", removeErr))
	}
	return err
}
