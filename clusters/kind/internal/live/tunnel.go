package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// Dial connects to a port inside a pod's network through the API server and kubelet, as kubectl port-forward does. So
// it works with every engine and on every host, and reaches ports that listen only on the node's loopback.
func (c *Cluster) Dial(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	failed := func(err error) error {
		return fmt.Errorf("reach port %d of pod %s: %w", port, pod, err)
	}
	transport, upgrader, err := spdy.RoundTripperFor(c.REST)
	if err != nil {
		return nil, failed(err)
	}
	url := c.Client.CoreV1().RESTClient().Post().
		Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	dialer := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: withContext{ctx, transport}}, http.MethodPost,
		url)
	connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, failed(err)
	}
	t, err := newTunnel(connection, port)
	if err != nil {
		return nil, failed(errors.Join(err, connection.Close()))
	}
	return t, nil
}

// withContext cancels the opening of a tunnel with a context.
type withContext struct {
	ctx context.Context
	http.RoundTripper
}

// RoundTrip sends the request.
func (w withContext) RoundTrip(request *http.Request) (*http.Response, error) {
	return w.RoundTripper.RoundTrip(request.WithContext(w.ctx))
}

// tunnel is a connection to a port inside a pod.
type tunnel struct {
	httpstream.Stream

	connection httpstream.Connection
	mu         sync.Mutex
	refusal    error
	refused    chan struct{}
}

func newTunnel(connection httpstream.Connection, port int) (*tunnel, error) {
	headers := http.Header{}
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	errorStream, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	_ = errorStream.Close() // nothing is written to it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	t := &tunnel{Stream: data, connection: connection, refused: make(chan struct{})}
	go t.listen(errorStream)
	return t, nil
}

// listen records why kubelet could not reach the port.
func (t *tunnel) listen(errors io.Reader) {
	text, err := io.ReadAll(errors)
	t.mu.Lock()
	if err == nil && len(text) > 0 {
		t.refusal = fmt.Errorf("%s", text)
	}
	t.mu.Unlock()
	close(t.refused)
}

// Read reads from the tunnel. If kubelet gave a reason for the end, the reason is the error.
func (t *tunnel) Read(p []byte) (int, error) {
	n, err := t.Stream.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	select {
	case <-t.refused:
	case <-time.After(time.Second):
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refusal != nil {
		return n, t.refusal
	}
	return n, err
}

// Close ends the tunnel.
func (t *tunnel) Close() error { return t.connection.Close() }

// LocalAddr has no meaning here.
func (t *tunnel) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr has no meaning here.
func (t *tunnel) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline does nothing: the caller closes the tunnel after its timeout.
func (t *tunnel) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (t *tunnel) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (t *tunnel) SetWriteDeadline(time.Time) error { return nil }
