"""Does what is declared fit the quota: pure rules over limits, live machines and jobs."""
