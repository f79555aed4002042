package simulator

import "testing"

// A loopback address has the type FQDN, because the API server rejects it as an IP address. Any other address has an IP
// type, because kube-proxy does not support names.
func TestEndpointSlice(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1": "FQDN", "localhost": "FQDN", "172.18.0.1": "IPv4",
		"fc00::1": "IPv6",
	} {
		r := &registration{o: Options{Host: host}}
		if got := r.endpointSlice()["addressType"]; got != want {
			t.Errorf("%s is of type %s, want %s", host, got, want)
		}
	}
}
