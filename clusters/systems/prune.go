package systems

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// prune deletes the objects that were created for a system and are no longer wanted. CRDs stay until the system is
// removed, with the objects of their kinds: an upgrade or a rollback with Helm does not delete the CRDs of a chart
// either.
func (s *installer) prune(ctx context.Context, sys *system, wanted []reference) error {
	for _, r := range slices.Backward(slices.Clone(sys.objects)) {
		if slices.ContainsFunc(wanted, r.same) {
			delete(sys.kept, r)
			continue
		}
		if r.kind == crdKind {
			sys.keep(r)
			continue
		}
		if err := s.api.delete(ctx, r); err != nil {
			return err
		}
		sys.objects = slices.DeleteFunc(sys.objects, func(known reference) bool { return known == r })
	}
	return nil
}

// keep notes a CRD that the system no longer installs, and where its conversion webhook is called.
func (sys *system) keep(r reference) {
	if sys.kept == nil {
		sys.kept = map[reference]string{}
	}
	if _, known := sys.kept[r]; !known {
		sys.kept[r] = sys.calledAt
	}
}

// forgetDeleted forgets the kept CRDs that a user has deleted: nobody creates them again.
func (s *installer) forgetDeleted(ctx context.Context, sys *system) error {
	for r := range sys.kept {
		_, err := s.api.dynamic.Resource(crdResource).Get(ctx, r.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			delete(sys.kept, r)
			sys.objects = slices.DeleteFunc(sys.objects, func(known reference) bool { return known == r })
		case err != nil:
			return fmt.Errorf("look for %s: %w", r, err)
		}
	}
	return nil
}

// trustKept puts the process's new authority and address into the conversion webhooks of the kept CRDs. Otherwise their
// objects could not be read because of a certificate or a port, whatever the process answers.
func (s *installer) trustKept(ctx context.Context, sys *system, ca []byte) error {
	if err := s.forgetDeleted(ctx, sys); err != nil {
		return err
	}
	client, url := s.api.dynamic.Resource(crdResource), sys.place.calledAt()
	for r, from := range sys.kept {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			crd, err := client.Get(ctx, r.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stale := false
			for _, webhook := range clientsOf(crd) {
				if at, _ := webhook["url"].(string); at == from || strings.HasPrefix(at, from+"/") {
					webhook["url"] = url + strings.TrimPrefix(at, from)
					webhook["caBundle"], stale = base64.StdEncoding.EncodeToString(ca), true
				}
			}
			if !stale {
				return nil
			}
			_, err = client.Update(ctx, crd, metav1.UpdateOptions{FieldManager: manager})
			return err
		})
		if err != nil {
			return fmt.Errorf("renew the authority of %s, which the system no longer installs: %w", r, err)
		}
		sys.kept[r] = url
	}
	return nil
}
