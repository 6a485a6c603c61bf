"""Organization Policy: the policies that settings put in force, as a project gets them from its organisation."""
