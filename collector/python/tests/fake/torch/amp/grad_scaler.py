class GradScaler:
    def step(self, optimizer, skip=False):
        return None if skip else optimizer.step()
