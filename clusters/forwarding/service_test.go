package forwarding

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// replicaThat answers each line with its name.
func replicaThat(t *testing.T, name string) (address string, end func()) {
	t.Helper()
	listener := serving(t, "127.0.0.1:0", func(connection net.Conn) {
		defer connection.Close()
		lines := bufio.NewScanner(connection)
		for lines.Scan() {
			_, _ = fmt.Fprintln(connection, name)
		}
	})
	return listener.Addr().String(), func() { _ = listener.Close() }
}

// newTestService returns a service that listens.
func newTestService(t *testing.T) *Service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	golden.Must(t, err)
	address := listener.Addr().String()
	_ = listener.Close()
	s := NewService(address)
	golden.Must(t, s.Listen(0))
	t.Cleanup(s.Close)
	return s
}

// ask sends two lines through a service, and returns the second answer.
func ask(s *Service) (string, error) {
	connection, err := net.Dial("tcp", s.Address())
	if err != nil {
		return "", err
	}
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	for range 2 {
		if _, err := fmt.Fprintln(connection, "hello"); err != nil {
			return "", err
		}
		if !lines.Scan() {
			return "", errors.Join(io.EOF, lines.Err())
		}
	}
	return lines.Text(), nil
}

func healthy(context.Context) error { return nil }

func TestServiceForwardsToReadyReplicas(t *testing.T) {
	s := newTestService(t)
	if answer, err := ask(s); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("without a replica: %q, %v", answer, err)
	}
	one, end := replicaThat(t, "one")
	two, _ := replicaThat(t, "two")
	s.Add("one", one, true, healthy)
	s.Add("two", two, false, func(context.Context) error { return errors.New("starting") })
	for range 10 {
		if answer, err := ask(s); answer != "one" || err != nil {
			t.Fatalf("only one is ready: %q, %v", answer, err)
		}
	}
	s.Add("two", two, true, healthy)
	end()
	for range 10 {
		if answer, err := ask(s); answer != "two" || err != nil {
			t.Fatalf("one has ended: %q, %v", answer, err)
		}
	}
	if left := s.Remove("two"); left != 1 {
		t.Errorf("%d replicas are left, want 1", left)
	}
}

// Like a kubelet, a service believes the third failure in a row, but the end of a program at once.
func TestReadinessOfAReplica(t *testing.T) {
	unready := errors.New("500")
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	late := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, test := range []struct {
		name    string
		before  bool
		results []error
		want    bool
	}{
		{"two failures", true, []error{unready, unready}, true},
		{"three failures", true, []error{unready, late, reset}, false},
		{"not in a row", true, []error{unready, unready, nil, unready, unready}, true},
		{"ready again", true, []error{unready, unready, unready, nil, unready}, true},
		{"nothing listens", true, []error{refused}, false},
		{"not ready yet", false, []error{unready}, false},
		{"ready for the first time", false, []error{unready, nil}, true},
	} {
		r := &replica{ready: test.before}
		for _, err := range test.results {
			new(Service).note(r, err)
		}
		if r.ready != test.want {
			t.Errorf("%s: ready is %t", test.name, r.ready)
		}
	}
}

func TestServiceChangesHowItAnswers(t *testing.T) {
	s := newTestService(t)
	address, _ := replicaThat(t, "one")
	s.Add("one", address, true, healthy)
	open, err := net.Dial("tcp", s.Address())
	golden.Must(t, err)
	defer open.Close()
	s.Refuse()
	if _, err := ask(s); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it refuses connections: %v", err)
	}
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("a connection from before is still open")
	}
	const delay = 50 * time.Millisecond
	golden.Must(t, s.Listen(delay))
	began := time.Now()
	if answer, err := ask(s); answer != "one" || err != nil || time.Since(began) < delay {
		t.Errorf("with a delay: %q, %v, after %s", answer, err, time.Since(began))
	}
	golden.Must(t, s.Listen(0))
	if answer, err := ask(s); answer != "one" || err != nil {
		t.Errorf("as usual again: %q, %v", answer, err)
	}
}
