package transplant

import (
	"fmt"
	"net"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Callee is what the API server would call for the client configuration of a webhook, or the specification of an
// APIService: a Service, or a server that does not run on this machine. It is "" for a server on this machine.
func Callee(fields map[string]any, path ...string) string {
	config, _, _ := unstructured.NestedMap(fields, path...)
	if service, ok := config["service"].(map[string]any); ok {
		return fmt.Sprintf("Service %v/%v, whose pods are simulated and answer nothing", service["namespace"],
			service["name"])
	}
	text, _ := config["url"].(string)
	at, err := url.Parse(text)
	if text == "" || err == nil && onThisMachine(at.Hostname()) {
		return ""
	}
	if err != nil {
		return "a server at a URL that cannot be parsed"
	}
	return fmt.Sprintf("%s, which would take the rehearsal's writes for real ones", at.Host)
}

func onThisMachine(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}
