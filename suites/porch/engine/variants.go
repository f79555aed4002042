package engine

// Variant is another reading of a place where the specification is silent or contradicts itself, or a help for tests.
// Each reading decides one ambiguity differently from requirements.yaml.
type Variant string

// The variants.
const (
	// ProposedFullUpdate follows the flow chart of "Update Lifecycle Validation", in which Draft and Proposed allow a full
	// update, instead of the rule below it (AMB1).
	ProposedFullUpdate Variant = "proposed-full-update"
	// DeletionProposedIsPublished treats a revision whose deletion is proposed as published, as upstream does (AMB2).
	DeletionProposedIsPublished Variant = "deletion-proposed-is-published"
	// ImmutableIsForbidden answers 403 to an update of what is immutable (AMB3).
	ImmutableIsForbidden Variant = "immutable-is-forbidden"
	// MissingSourceIsNotFound answers 404 to an upgrade from a revision that does not exist (AMB4).
	MissingSourceIsNotFound Variant = "missing-source-is-not-found"
	// InitAgain allows an init task for an existing package, in another workspace (AMB5).
	InitAgain Variant = "init-again"
	// MissingVersionIsInvalid answers 422 to an update without a resource version, as other API servers do (AMB6).
	MissingVersionIsInvalid Variant = "missing-version-is-invalid"
	// OtherReadings combines all of them: they do not depend on each other.
	OtherReadings Variant = "other-readings"
	// CorruptStore is no reading: on request, a new revision is stored with a lifecycle that does not exist.
	CorruptStore Variant = "corrupt-store"
)

// Readings lists the variants that decide one ambiguity each.
func Readings() []Variant {
	return []Variant{
		ProposedFullUpdate, DeletionProposedIsPublished, ImmutableIsForbidden, MissingSourceIsNotFound,
		InitAgain, MissingVersionIsInvalid,
	}
}

// Variants lists all variants.
func Variants() []Variant { return append(Readings(), OtherReadings, CorruptStore) }
